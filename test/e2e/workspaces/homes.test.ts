import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { post } from '../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../support/client.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { type People, startWithPeople } from '../../support/people.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'

interface Home {
  readonly metadata: { readonly name: string; readonly uid?: string }
  readonly spec: { readonly cluster: string; readonly URL: string }
  readonly status: { readonly phase: string }
}

/** With `KCP_BIN=… npx mocha …` it runs against kcp. */
describe('home workspaces', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let root: Kubectl
  before(async () => {
    oriel = await startServer()
    root = kubectlFor(oriel, 'root')
  })
  after(() => discard(oriel))

  it('are created at the first request for `~`, and stay the same', async () => {
    const home = await root.json<Home>(['get', 'workspace', '~'])
    assert.equal(home.metadata.name, 'cluster')
    assert.equal(home.metadata.uid, undefined)
    // The first eight bytes of the SHA-224 of "kcp-admin", in base 36.
    assert.equal(home.spec.cluster, 'kvdk2spgmbix')
    assert.equal(home.spec.URL, `${oriel.url}/clusters/${home.spec.cluster}`)
    assert.equal(home.status.phase, 'Ready')
    assert.deepEqual(await root.json(['get', 'workspace', '~']), home)
  })

  it('are administered by their owners, and have a path', async () => {
    const { spec } = await root.json<Home>(['get', 'workspace', '~'])
    const home = root.at(`/clusters/${spec.cluster}`)
    const admin = await home([
      'get',
      'clusterrolebinding',
      'workspace-admin',
      '-o',
      'jsonpath={.subjects[0].name}',
    ])
    assert.equal(admin, 'kcp-admin')
    const path = await home([
      'get',
      'logicalcluster',
      'cluster',
      '-o',
      String.raw`jsonpath={.metadata.annotations.kcp\.io/path}`,
    ])
    assert.equal(path, 'user:kcp-admin')
    const child = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'child' },
    }
    await apply(home, child)
    await home(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', 'workspace/child'])
    const below = root.at('/clusters/user:kcp-admin:child')
    await below(['create', 'configmap', 'mine', '-n', 'default'])
    const url = await home(['get', 'workspace', 'child', '-o', 'jsonpath={.spec.URL}'])
    assert.equal(url, `${oriel.url}/clusters/user:kcp-admin:child`)
  })
})

describe('home workspaces of selected groups', function () {
  this.timeout(60_000)
  let people: People
  before(async () => {
    people = await startWithPeople(['--home-workspaces-home-creator-groups=team-1'])
  })
  after(() => discard(people.oriel))

  it('are created for their users only', async () => {
    const path = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/~'
    await eventually(
      () => people.as('user-1')(path),
      ({ status }) => status === 200,
    )
    const { status, json } = await people.as('user-2')(path)
    const refused =
      'workspaces.tenancy.kcp.io "~" is forbidden: User "user-2" cannot create resource "workspaces" in API group "tenancy.kcp.io" at the cluster scope: workspace access not permitted'
    assert.deepEqual([status, json().message], [403, refused])
  })
})

describe('the home of a user with the name of a path', function () {
  this.timeout(120_000)
  const [ann, mallory] = ['ann', 'ann:team']
  const tree = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
  let oriel: Oriel
  const clients = new Map<string, Client>()
  before(async () => {
    const directory = await temporaryDirectory('homes')
    const file = join(directory, 'users.csv')
    await writeFile(file, `token-1,${ann},1\ntoken-2,${mallory},2\n`)
    const limits = ['--workspace-descendant-limit', '1']
    oriel = await startOriel({
      directory,
      args: ['--store', 'memory:', '--token-auth-file', file, ...limits],
    })
    for (const [i, name] of [ann, mallory].entries())
      clients.set(name, await clientOf(userAt(oriel, oriel.url, `token-${i + 1}`)))
  })
  after(() => discard(oriel))

  async function homeOf(user: string): Promise<Client> {
    const ask = clients.get(user) as Client
    const { json } = await eventually(
      () => ask(`/clusters/root${tree}/~`),
      ({ status }) => status === 200,
    )
    return ask.at(`${oriel.url}/clusters/${(json().spec as { cluster: string }).cluster}`)
  }

  it('is no workspace of another user, and takes none of the workspaces that this one may have', async () => {
    const home = await homeOf(mallory)
    const { metadata } = (await home('/apis/core.kcp.io/v1alpha1/logicalclusters/cluster')).json()
    assert.ok(!metadata.annotations?.['kcp.io/path']?.startsWith('user:ann'), JSON.stringify(metadata))
    const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'a' } }
    const create = async (of: Client): Promise<Reply> => of(tree, post(workspace))
    const own = await create(home)
    assert.equal(own.status, 201, own.text)
    const others = await create(await homeOf(ann))
    assert.equal(others.status, 201, others.text)
    const again = await home(tree, post({ ...workspace, metadata: { name: 'b' } }))
    assert.match(again.text, /has reached its limit of workspaces below it \(1\/1\)/)
  })
})
