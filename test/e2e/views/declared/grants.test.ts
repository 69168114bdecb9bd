import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { post } from '../../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../../support/oriel.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../../../support/tenants.ts'
import { userAt } from '../../../support/watcher.ts'

const rbac = 'rbac.authorization.k8s.io'
const views = '/apis/views.oriel.dev/v1alpha1/views'
const bindings = `/apis/${rbac}/v1/clusterrolebindings`

const viewOf = (name: string, group: string, resource: string, verbs: readonly string[]): KubeObject => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name },
  spec: { source: { cluster: '.' }, resources: [{ group, resource, verbs }] },
})

const tokenOfBoss = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
}

const bindingOfEve = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'more' },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'eve' }],
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
}

describe('the author of a View', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let workspace: Tenant
  let eve: Client

  before(async () => {
    const directory = await temporaryDirectory('grants')
    const tokens = join(directory, 'tokens.csv')
    await writeFile(tokens, 'eve-token,eve,1\n')
    oriel = await startOriel({ directory, args: ['--token-auth-file', tokens, '--store', 'memory:'] })
    ;[workspace] = (await createWorkspaces(oriel, ['team'])) as [Tenant]
    const rules = [
      { apiGroups: ['views.oriel.dev'], resources: ['views', 'views/content'], verbs: ['*'] },
      { apiGroups: [rbac], resources: ['clusterrolebindings'], verbs: ['create', 'list'] },
    ]
    await apply(workspace.kubectl, ...rolesFor('eve', ...rules))
    eve = await clientOf(userAt(oriel, oriel.url, 'eve-token'))
  })
  after(() => discard(oriel))

  const there = (path: string): string => `/clusters/${workspace.cluster}${path}`
  const through = (view: string, path: string): string =>
    `/services/views/${workspace.cluster}/${view}/clusters/${workspace.cluster}${path}`
  const refused = (reply: Reply, why: RegExp): void => {
    assert.equal(reply.status, 403, reply.text)
    assert.match(reply.text, why)
  }
  const serve = async (view: KubeObject): Promise<void> => {
    const made = await eve(there(views), post(view))
    assert.equal(made.status, 201, made.text)
    await eventually(
      () => eve(through(view.metadata.name ?? '', '/apis')),
      ({ status }) => status === 200,
    )
  }

  it('cannot grant roles through it that the author cannot grant', async () => {
    const missing = /attempting to grant RBAC permissions not currently held/
    refused(await eve(there(bindings), post(bindingOfEve)), missing)
    await serve(viewOf('bindings', rbac, 'clusterrolebindings', ['create']))
    refused(await eve(through('bindings', bindings), post(bindingOfEve)), missing)
    assert.equal((await eve(there('/api/v1/secrets'))).status, 403)
  })

  it('cannot make Views through it that the author cannot make', async () => {
    const secrets = viewOf('secrets', '', 'secrets', ['get'])
    const lacking = /a View can give only permissions that you have: list on secrets/
    refused(await eve(there(views), post(secrets)), lacking)
    await serve(viewOf('views', 'views.oriel.dev', 'views', ['create']))
    refused(await eve(through('views', views), post(secrets)), lacking)
  })

  it('cannot make tokens through it for users who cannot make them', async () => {
    await apply(workspace.kubectl, viewOf('tokens', '', 'secrets', ['create', 'get']))
    const secrets = through('tokens', '/api/v1/namespaces/default/secrets')
    await eventually(
      () => eve(through('tokens', '/api')),
      ({ status }) => status === 200,
    )
    refused(await eve(secrets, post(tokenOfBoss)), /a token needs/)
    const plain = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'plain' } }
    assert.equal((await eve(secrets, post(plain))).status, 201)
  })
})
