import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  discard,
  fromRoot,
  type Kubectl,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const tokens = 'alice-token,alice,1,"devs"\nbob-token,bob,2\n'
const team = '/clusters/root:team'
const workspaces = ['team', 'other'].map(name => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
}))

describe('permissions of ordinary users', function () {
  this.slow(20_000)
  let oriel: Oriel
  let admin: Kubectl
  before(async () => {
    const directory = await temporaryDirectory('rights')
    const file = join(directory, 'tokens.csv')
    await writeFile(file, tokens)
    oriel = await startOriel({ directory, args: ['--token-auth-file', file, '--store', 'memory:'] })
    admin = kubectlFor(oriel, 'root')
    await admin(['apply', '-f', '-'], workspaces.map(workspace => JSON.stringify(workspace)).join('\n'))
    await admin(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/team', 'workspace/other'])
  })
  after(() => discard(oriel))

  /** kubectl as a user of the token file; returns the outcome. */
  const as = (user: string, path: string, args: readonly string[], input = '') => {
    const server = [
      '--kubeconfig',
      '/dev/null',
      '--certificate-authority',
      join(oriel.directory, 'ca.crt'),
      '-s',
      oriel.url + path,
    ]
    return run('kubectl', [...server, '--token', `${user}-token`, ...fromRoot(args, oriel.url)], { input })
  }
  const does = async (user: string, args: readonly string[]): Promise<void> => {
    const { code, stderr } = await as(user, team, args)
    assert.equal(code, 0, stderr)
  }
  const refuses = async (user: string, args: readonly string[], why: RegExp): Promise<void> => {
    const { code, stderr } = await as(user, team, args)
    assert.equal(code, 1)
    assert.match(stderr, why)
  }

  it('are empty at first, and end at the border of an administered workspace', async () => {
    await refuses('alice', ['get', '--raw', `${team}/api/v1/namespaces`], /Forbidden/)
    await admin.at(team)([
      'create',
      'clusterrolebinding',
      'alice',
      '--clusterrole=cluster-admin',
      '--user=alice',
    ])
    await does('alice', ['create', 'namespace', 'mine'])
    for (const cluster of ['root:other', 'root', 'system:admin', 'system:bound-crds', '*']) {
      const { code, stderr } = await as('alice', '', ['get', '--raw', `/clusters/${cluster}/api/v1/secrets`])
      assert.equal(code, 1, cluster)
      assert.match(stderr, /Forbidden/, cluster)
    }
  })

  it('serve their discovery to members only (8.14)', async () => {
    for (const path of ['/api', '/apis', '/api/v1', '/openapi/v2', '/openapi/v3', '/version']) {
      assert.equal((await as('alice', '', ['get', '--raw', team + path])).code, 0, path)
      assert.equal((await as('bob', '', ['get', '--raw', team + path])).code, 1, path)
    }
    assert.equal((await as('bob', '', ['get', '--raw', '/version'])).code, 0)
  })

  it('include a namespace by a RoleBinding, with access to the workspace', async () => {
    await does('alice', ['create', 'rolebinding', 'bob', '--clusterrole=view', '--user=bob', '-n', 'mine'])
    await refuses('bob', ['get', 'configmaps', '-n', 'mine'], /access denied|unknown/)
    const access = '--clusterrole=system:kcp:workspace:access'
    await does('alice', ['create', 'clusterrolebinding', 'open', access, '--group=system:authenticated'])
    await does('bob', ['get', 'configmaps', '-n', 'mine'])
    await refuses(
      'bob',
      ['get', 'configmaps', '-n', 'default'],
      /User "bob" cannot list resource "configmaps" in API group "" in the namespace "default": access denied/,
    )
    const { stdout } = await as('bob', team, ['auth', 'can-i', 'get', 'secrets', '-n', 'mine'])
    assert.match(stdout, /^no/)
  })

  it('cannot be raised by users with fewer permissions', async () => {
    const kinds = ['clusterroles', 'clusterrolebindings'].map(kind => `${kind}.rbac.authorization.k8s.io`)
    await does('alice', ['create', 'clusterrole', 'rbac', '--verb=get,create,update', `--resource=${kinds}`])
    await does('alice', ['create', 'clusterrolebinding', 'rbac', '--clusterrole=rbac', '--user=bob'])
    const up = ['create', 'clusterrolebinding', 'up', '--user=bob']
    await refuses(
      'bob',
      [...up, '--clusterrole=cluster-admin'],
      /attempting to grant RBAC permissions not currently held/,
    )
    await refuses('bob', [...up, '--clusterrole=later'], /"later" not found/)
    await refuses('bob', ['create', 'clusterrole', 'all', '--verb=*', '--resource=*'], /not currently held/)
  })

  it('are listed by whoami and can-i --list', async () => {
    const whoami = await as('alice', team, ['auth', 'whoami', '-o', 'json'])
    assert.deepEqual(JSON.parse(whoami.stdout).status.userInfo, {
      username: 'alice',
      uid: '1',
      groups: ['devs', 'system:authenticated'],
    })
    const list = await as('alice', team, ['auth', 'can-i', '--list'])
    assert.match(list.stdout, /\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/)
  })
})
