import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixture, post } from '../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  rolesFor,
  type Tenant,
} from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'

const rbac = 'rbac.authorization.k8s.io'
const roles = `/apis/${rbac}/v1/clusterroles`
const roleBindings = `/apis/${rbac}/v1/clusterrolebindings`
const secrets = '/api/v1/namespaces/default/secrets'

const claim = (group: string, resource: string, verbs: readonly string[]) => ({
  ...{ group, resource, verbs, selector: { matchAll: true }, state: 'Accepted' },
})
/** What the consumer has given the provider. */
const accepted = [
  claim('', 'secrets', ['*']),
  claim('', 'serviceaccounts', ['*']),
  claim(rbac, 'clusterroles', ['get', 'list', 'create']),
  claim(rbac, 'clusterrolebindings', ['*']),
]

const role = (verb: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: `to-${verb}` },
  rules: [{ apiGroups: [''], resources: ['secrets'], verbs: [verb] }],
})

const bindingTo = (name: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { generateName: 'more-' },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'eve' }],
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
})

const tokenOfBoss = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name, annotations: { 'kubernetes.io/service-account.name': 'boss' } },
})

const view = {
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name: 'some' },
  spec: {
    source: { apiExport: 'example.com' },
    resources: [
      { resource: 'secrets', verbs: ['create', 'get'], where: "object.metadata.name.startsWith('eve-')" },
      ...['clusterroles', 'clusterrolebindings'].map(resource => ({
        group: rbac,
        resource,
        verbs: ['create'],
      })),
    ],
  },
}

describe('a user who may use a part of what a consumer has given the provider', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let provider: Tenant
  let consumer: Tenant
  let exported: string

  before(async () => {
    const directory = await temporaryDirectory('givenusers')
    const tokens = join(directory, 'tokens.csv')
    await writeFile(tokens, 'eve-token,eve,1\ncontroller-token,controller,2\nowner-token,owner,3\n')
    oriel = await startOriel({ directory, args: ['--token-auth-file', tokens, '--store', 'memory:'] })
    ;[provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    const offered = accepted.map(({ selector: _s, state: _t, ...each }) => each)
    const name = await exportApi(provider, fixture, offered)
    await bind(consumer, bindingOf(provider, name, accepted))
    await apply(consumer.kubectl, role('get'), role('delete'), ...rolesFor('owner'))
    await consumer.kubectl(['create', 'serviceaccount', 'boss'])
    const content = { apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'] }
    const ofView = { apiGroups: ['views.oriel.dev'], resources: ['views/content'], verbs: ['*'] }
    await apply(
      provider.kubectl,
      ...rolesFor('controller', { ...content, verbs: ['get', 'list', 'create'] }),
      ...rolesFor('owner', { ...content, verbs: ['*'] }),
      ...rolesFor('eve', ofView),
      view,
    )
    exported = new URL(await publishedUrl(provider, name)).pathname
  })
  after(() => discard(oriel))

  const refused = ({ status, text }: Reply, why: RegExp): void => {
    assert.equal(status, 403, text)
    assert.match(text, why)
  }
  const made = ({ status, text }: Reply): void => assert.equal(status, 201, text)
  const serving = async (user: Client, path: string): Promise<string> => {
    const base = `${path}/clusters/${consumer.cluster}`
    await eventually(
      () => user(`${base}/apis`),
      ({ status }) => status === 200,
    )
    return base
  }
  const lacking = /the accepted permission claims do not give what this grants/

  it('grants through a View only permissions that the user has, not those of the provider', async () => {
    const eve = await clientOf(userAt(oriel, oriel.url, 'eve-token'))
    const base = await serving(eve, `/services/views/${provider.cluster}/some`)
    const plain = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'eve-plain' } }
    made(await eve(base + secrets, post(plain)))
    refused(await eve(base + secrets, post(tokenOfBoss('eve-token'))), /a token needs the permission/)
    refused(await eve(base + roleBindings, post(bindingTo('to-get'))), lacking)
    refused(await eve(base + roles, post({ ...role('get'), metadata: { name: 'own' } })), lacking)
  })

  it('grants through the view of the export only verbs that the user has on its content', async () => {
    const controller = await clientOf(userAt(oriel, oriel.url, 'controller-token'))
    const base = await serving(controller, exported)
    made(await controller(base + roleBindings, post(bindingTo('to-get'))))
    made(await controller(base + secrets, post(tokenOfBoss('own-token'))))
    refused(await controller(base + roleBindings, post(bindingTo('to-delete'))), lacking)
    refused(await controller(base + roles, post({ ...role('delete'), metadata: { name: 'own' } })), lacking)
  })

  it('does not grant to impersonate the service accounts of the consumer', async () => {
    const owner = await clientOf(userAt(oriel, oriel.url, 'owner-token'))
    const base = await serving(owner, exported)
    const accounts = (verb: string) => ({
      ...role(verb),
      metadata: { generateName: 'accounts-' },
      rules: [{ apiGroups: [''], resources: ['serviceaccounts'], verbs: [verb] }],
    })
    for (const verb of ['impersonate', '*']) refused(await owner(base + roles, post(accounts(verb))), lacking)
    made(await owner(base + roles, post(accounts('delete'))))
  })
})
