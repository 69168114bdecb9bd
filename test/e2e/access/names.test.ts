import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { fixture, post, widget, widgetsIn } from '../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
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
import { configAt, userAt } from '../../support/watcher.ts'

const admission = 'admissionregistration.k8s.io/v1'
const controller = 'system:serviceaccount:default:controller'

/** Approved widgets are for the controller of the provider, and for operators. */
const approvals: readonly KubeObject[] = [
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'approvals' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] },
        ],
      },
      validations: [
        {
          expression: `!has(object.spec.note) || object.spec.note != 'approved' || request.userInfo.username == '${controller}' || 'operators' in request.userInfo.groups`,
          message: 'approval is for the provider',
        },
      ],
    },
  },
  {
    apiVersion: admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'approvals' },
    spec: { policyName: 'approvals', validationActions: ['Deny'] },
  },
]

/** All users may use the View; it shows objects to the controller only. */
const view: readonly KubeObject[] = [
  {
    apiVersion: 'views.oriel.dev/v1alpha1',
    kind: 'View',
    metadata: { name: 'own' },
    spec: {
      source: { cluster: '.' },
      resources: [{ resource: 'configmaps', verbs: ['list'], where: `user.name == '${controller}'` }],
    },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'own' },
    rules: [
      { apiGroups: ['views.oriel.dev'], resources: ['views/content'], verbs: ['list'] },
      { nonResourceURLs: ['/'], verbs: ['access'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'own' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'own' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
  },
]

/** Everybody may do all but delete widgets, which is for operators. */
const maximal: readonly KubeObject[] = [
  ['system:authenticated', ['get', 'list', 'watch', 'create', 'update', 'patch']],
  ['operators', ['delete']],
].flatMap(([group, verbs]) => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `maximal-${group}` },
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `maximal-${group}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `maximal-${group}` },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: `apis.kcp.io:binding:${group}` },
    ],
  },
])

const approved = (name: string): KubeObject => {
  const object = widget(name)
  return { ...object, spec: { ...(object.spec as object), note: 'approved' } }
}

describe('names that users choose in their own workspace', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let provider: Tenant
  let consumer: Tenant
  let admin: Client
  const clients: Client[] = []
  /** Clients with the service account `controller` of each workspace. */
  let own: Client
  let foreign: Client
  let exported: string

  before(async () => {
    oriel = await startOriel({ args: ['--store', 'memory:'] })
    const tenants = await createWorkspaces(oriel, ['provider', 'consumer'])
    ;[provider, consumer] = tenants as [Tenant, Tenant]
    admin = await clientOf(configAt(oriel, oriel.url))
    own = await controllerOf(provider)
    foreign = await controllerOf(consumer)
    clients.push(admin, own, foreign)
    exported = await exportApi(provider, fixture, [])
    await apply(provider.kubectl, ...approvals, ...view, ...maximal)
    await bind(consumer, bindingOf(provider, exported, []))
    const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
    await apply(consumer.kubectl, ...rolesFor('somebody', all))
  })
  after(async () => {
    for (const client of clients) client.close()
    await discard(oriel)
  })

  /** An administrator of its workspace. */
  async function controllerOf(tenant: Tenant): Promise<Client> {
    await tenant.kubectl(['create', 'serviceaccount', 'controller'])
    await apply(tenant.kubectl, ...rolesFor(controller, { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }))
    const token = (await tenant.kubectl(['create', 'token', 'controller'])).trim()
    return clientOf(userAt(oriel, oriel.url, token))
  }
  const at = ({ cluster }: Tenant): string => `/clusters/${cluster}`
  const isRefused = ({ status, text }: Reply): void => {
    assert.equal(status, 422, text)
    assert.match(text, /approval is for the provider/)
  }
  const widgets = (): string => `${at(consumer)}${widgetsIn('default')}`
  const create = (client: Client, name: string, headers = {}): Promise<Reply> => {
    const sent = post(approved(name))
    return client(widgets(), { ...sent, headers: { ...sent.headers, ...headers } })
  }

  it('are not those of the provider in its policies', async () => {
    isRefused(
      await eventually(
        () => create(admin, `a-${Date.now()}`),
        ({ status }) => status === 422,
      ),
    )
    isRefused(await create(foreign, 'b'))
    for (const impersonated of [
      { 'impersonate-user': 'somebody', 'impersonate-group': 'operators' },
      { 'impersonate-user': controller },
    ]) {
      const reply = await create(foreign, 'c', impersonated)
      assert.ok([403, 422].includes(reply.status), reply.text)
    }
    const { pathname } = new URL(await publishedUrl(provider, exported))
    const { status, text } = await own(`${pathname}${widgets()}`, post(approved('d')))
    assert.equal(status, 201, text)
  })

  it('are not those of the provider in its maximal permission policy', async () => {
    assert.equal((await foreign(widgets(), post(widget('kept')))).status, 201)
    const policy = { spec: { maximalPermissionPolicy: { local: {} } } }
    await provider.kubectl(['patch', 'apiexport', exported, '--type=merge', `-p=${JSON.stringify(policy)}`])
    await eventually(
      () => foreign(`${widgets()}/none`, { method: 'DELETE' }),
      ({ status }) => status === 403,
    )
    for (const headers of [{}, { 'impersonate-user': 'somebody', 'impersonate-group': 'operators' }]) {
      const { status, text } = await foreign(`${widgets()}/kept`, { method: 'DELETE', headers })
      assert.equal(status, 403, text)
    }
  })

  it('are not those of a View of another workspace', async () => {
    const url = `/services/views/${provider.cluster}/own${at(provider)}/api/v1/configmaps`
    const seen = await eventually(
      () => own(url),
      ({ status }) => status === 200,
    )
    assert.ok((seen.json().items ?? []).length > 0)
    const others = await foreign(url)
    assert.equal(others.status, 200, others.text)
    assert.deepEqual(others.json().items, [])
  })
})
