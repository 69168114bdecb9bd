import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Suite } from 'mocha'
import { fixture, merge, post } from '../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { startStandalone } from '../../support/servers/standalone.ts'
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
const admission = 'admissionregistration.k8s.io'
const secrets = '/api/v1/namespaces/default/secrets'
const bindings = '/apis/apis.kcp.io/v1alpha2/apibindings'
const roles = `/apis/${rbac}/v1/clusterroles`
const roleBindings = `/apis/${rbac}/v1/clusterrolebindings`

const some = ['get', 'list', 'create', 'update', 'patch']
const mine = { matchLabels: { of: 'provider' } }
const all = { matchAll: true }
const claim = (group: string, resource: string, verbs: readonly string[], selector: object) => ({
  ...{ group, resource, verbs, selector, state: 'Accepted' },
})
/** What the consumer accepts of the provider, and a claim that it rejects. */
const accepted = [
  claim('', 'secrets', ['*'], mine),
  claim('', 'serviceaccounts', ['*'], mine),
  claim('', 'namespaces', ['get', 'list'], all),
  claim(rbac, 'clusterroles', some, all),
  claim(rbac, 'clusterrolebindings', ['*'], all),
  claim('apis.kcp.io', 'apibindings', ['*'], all),
  claim('apiextensions.k8s.io', 'customresourcedefinitions', ['*'], all),
  claim(admission, 'validatingadmissionpolicies', ['*'], all),
  claim(admission, 'validatingadmissionpolicybindings', ['*'], all),
  { ...claim('', 'configmaps', ['*'], all), state: 'Rejected' },
]

const tokenSecret = (account: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: {
    name: `token-of-${account}`,
    labels: mine.matchLabels,
    annotations: { 'kubernetes.io/service-account.name': account },
  },
})

const role = (name: string, resource: string, verbs: readonly string[]) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: [resource], verbs }],
})

const bindingTo = (name: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'provider' }],
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
})

const tokens = async (): Promise<readonly string[]> => {
  const file = join(await temporaryDirectory('claimedgrants'), 'tokens.csv')
  await writeFile(file, 'provider-token,provider,1\n')
  return ['--token-auth-file', file]
}

describe('what a provider writes by accepted claims', () => {
  describe(
    'in one process',
    claimedGrants(async () => startOriel({ args: [...(await tokens()), '--store', 'memory:'] })),
  )
  describe(
    'in front of a shard',
    claimedGrants(async () => startStandalone([], await tokens())),
  )
})

function claimedGrants(start: () => Promise<Oriel>) {
  return function (this: Suite): void {
    this.timeout(240_000)
    let oriel: Oriel
    let consumer: Tenant
    let user: Client
    /** Without the view. */
    let direct: Client
    let name: string
    let view: string

    before(async () => {
      oriel = await start()
      const [provider, one] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
      consumer = one
      name = await exportApi(
        provider,
        fixture,
        accepted.map(({ selector: _s, state: _t, ...offered }) => offered),
      )
      await bind(consumer, bindingOf(provider, name, accepted))
      await consumer.kubectl(['create', 'serviceaccount', 'boss'])
      await consumer.kubectl([
        'create',
        'clusterrolebinding',
        'boss',
        '--clusterrole=cluster-admin',
        '--serviceaccount=default:boss',
      ])
      await apply(consumer.kubectl, role('reader-of-configmaps', 'configmaps', ['get']))
      const content = {
        apiGroups: ['apis.kcp.io'],
        resources: ['apiexports', 'apiexports/content'],
        verbs: ['*'],
      }
      await apply(provider.kubectl, ...rolesFor('provider', content))
      const url = new URL(await publishedUrl(provider, name))
      view = `${url.pathname}/clusters/${consumer.cluster}`
      user = await clientOf(userAt(oriel, url.origin, 'provider-token'))
      direct = user.at(oriel.url)
      await eventually(
        () => user(`${view}${secrets}`),
        ({ status }) => status === 200,
      )
    })
    after(() => discard(oriel))

    const refused = ({ status, text }: Reply, why: RegExp): void => {
      assert.equal(status, 403, text)
      assert.match(text, why)
    }
    const done = ({ status, text }: Reply): void => assert.ok(status === 200 || status === 201, text)

    it('makes no token of a service account that is not claimed', async () => {
      const why = /a token needs the permission .* or a permission claim on this service account/
      refused(await user(view + secrets, post(tokenSecret('boss'))), why)
      refused(await user(view + secrets, post(tokenSecret('none'))), why)
      const account = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'own', labels: mine.matchLabels },
      }
      done(await user(`${view}/api/v1/namespaces/default/serviceaccounts`, post(account)))
      done(await user(view + secrets, post(tokenSecret('own'))))
      const other = { metadata: { annotations: { 'kubernetes.io/service-account.name': 'boss' } } }
      refused(await user(`${view}${secrets}/token-of-own`, merge(other)), why)
      done(await user(`${view}${secrets}/token-of-own`, merge({ metadata: { labels: { more: 'yes' } } })))
    })

    it('grants no permissions that no claim gives', async () => {
      const why = /the accepted permission claims do not give what this grants/
      refused(await user(view + roles, post(role('of-secrets', 'secrets', ['get']))), why)
      refused(await user(view + roles, post(role('of-configmaps', 'configmaps', ['get']))), why)
      refused(await user(view + roles, post(role('deleting', 'namespaces', ['delete']))), why)
      refused(await user(view + roleBindings, post(bindingTo('reader-of-configmaps'))), why)
      const system = /this needs a permission claim on all clusterroles with the verb \\?"bind\\?"/
      refused(await user(view + roleBindings, post(bindingTo('cluster-admin'))), system)
      done(await user(view + roles, post(role('of-namespaces', 'namespaces', ['get', 'list']))))
      const more = { rules: role('', 'namespaces', ['*']).rules }
      refused(await user(`${view}${roles}/of-namespaces`, merge(more)), why)
      done(await user(view + roleBindings, post(bindingTo('of-namespaces'))))
      const { status } = await direct(`/clusters/${consumer.cluster}/api/v1/secrets`)
      assert.equal(status, 403)
    })

    it('binds no role of the system, also after it has made a harmless role of the same name', async () => {
      const harmless = { ...role('cluster-admin', 'namespaces', ['get']), rules: [] }
      done(await user(view + roles, post(harmless)))
      const admin = { ...bindingTo('cluster-admin'), metadata: { name: 'admin' } }
      const why = /the accepted permission claims do not give what this grants:\\n\{APIGroups:\[\\"\*\\"\]/
      refused(await user(view + roleBindings, post(admin)), why)
      await consumer.kubectl(['delete', 'clusterrole', 'cluster-admin'])
    })

    it('grants permissions for the resources of the export', async () => {
      const own = {
        ...role('of-widgets', 'widgets', ['*']),
        rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['*'] }],
      }
      done(await user(view + roles, post(own)))
    })

    it('reads nothing as the parameter of an admission policy', async () => {
      const why = /parameters need a permission claim to get and list all of them/
      const policies = `${view}/apis/${admission}/v1/validatingadmissionpolicies`
      const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }
      const policy = (kind: string) => ({
        apiVersion: `${admission}/v1`,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: kind.toLowerCase() },
        spec: {
          paramKind: { apiVersion: 'v1', kind },
          matchConstraints: { resourceRules: [rule] },
          matchConditions: [{ name: 'never', expression: 'false' }],
          validations: [{ expression: 'false', messageExpression: 'string(params)' }],
        },
      })
      refused(await user(policies, post(policy('ConfigMap'))), why)
      refused(await user(policies, post(policy('Secret'))), why)
      done(await user(policies, post(policy('Namespace'))))
      await apply(consumer.kubectl, policy('ConfigMap'))
      const validations = [{ expression: 'false', messageExpression: 'string(params.data)' }]
      refused(await user(`${policies}/configmap`, merge({ spec: { validations } })), why)
      done(await user(`${policies}/configmap`, merge({ metadata: { labels: { more: 'yes' } } })))
      const bound = (policyName: string) => ({
        apiVersion: `${admission}/v1`,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: policyName },
        spec: {
          policyName,
          validationActions: ['Deny'],
          paramRef: { name: 'default', namespace: 'default', parameterNotFoundAction: 'Deny' },
        },
      })
      const policyBindings = policies.replace('policies', 'policybindings')
      for (const name of ['configmap', 'missing']) refused(await user(policyBindings, post(bound(name))), why)
      const whole = bound('namespace')
      const { namespace: _, ...paramRef } = whole.spec.paramRef
      done(await user(policyBindings, post({ ...whole, spec: { ...whole.spec, paramRef } })))
    })

    it('reads no objects by a webhook that converts them', async () => {
      const why = /spec.conversion: a webhook reads and changes the objects that it converts/
      const definitions = `${view}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
      const conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://93.184.215.14/' }, conversionReviewVersions: ['v1'] },
      }
      const own = {
        ...fixture,
        metadata: { name: 'widgets.own.example.com' },
        spec: { ...(fixture.spec as object), group: 'own.example.com' },
      }
      await apply(consumer.kubectl, own)
      const at = `${definitions}/widgets.own.example.com`
      refused(await user(at, merge({ spec: { conversion } })), why)
      done(await user(at, merge({ metadata: { labels: { more: 'yes' } } })))
      await consumer.kubectl(['delete', 'customresourcedefinition', 'widgets.own.example.com'])
      refused(await user(definitions, post({ ...own, spec: { ...own.spec, conversion } })), why)
      done(await user(definitions, post(own)))
    })

    it('accepts no claims, neither of the own binding nor of another one', async () => {
      const why = /a provider can accept only claims that the consumer has accepted of it/
      const states = accepted.map(each => ({ ...each, state: 'Accepted' }))
      const wider = accepted.map(each => ({ ...each, selector: all }))
      for (const permissionClaims of [states, wider])
        refused(await user(`${view}${bindings}/${name}`, merge({ spec: { permissionClaims } })), why)
      const before = (await user(`${view}${bindings}/${name}`)).json()
      const { reference } = before.spec as { reference: object }
      const other = { apiVersion: 'apis.kcp.io/v1alpha2', kind: 'APIBinding', metadata: { name: 'other' } }
      const spec = { reference, permissionClaims: states }
      refused(await user(view + bindings, post({ ...other, spec })), why)
      done(await user(`${view}${bindings}/${name}`, merge({ metadata: { labels: { more: 'yes' } } })))
      const status = { boundResources: [] }
      refused(await user(`${view}${bindings}/${name}/status`, merge({ status })), /access denied/)
    })

    it('accepts none by an older version, or by its annotations', async () => {
      const older = bindings.replace('v1alpha2', 'v1alpha1')
      const found = (await user(`${view}${older}/${name}`)).json()
      const { permissionClaims } = found.spec as { permissionClaims: readonly object[] }
      const states = permissionClaims.map(each => ({ ...each, state: 'Accepted' }))
      const sent = merge({ spec: { permissionClaims: states } })
      refused(await user(`${view}${older}/${name}`, sent), /can accept only claims/)
      const annotations = { 'apis.v1alpha2.kcp.io/acceptable-permission-claims': JSON.stringify(states) }
      refused(
        await user(`${view}${older}/${name}`, merge({ metadata: { annotations } })),
        /metadata.annotations/,
      )
    })
  }
}
