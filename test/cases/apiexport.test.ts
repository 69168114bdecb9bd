import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { apiResourceSchemaOf } from '../support/crds.ts'
import { discard, eventually } from '../support/oriel.ts'
import { bound, clusterRole, masters, type People, startWithPeople, type Told } from '../support/people.ts'
import { apply, bindingOf, createWorkspaces, publishedUrl, type Tenant } from '../support/tenants.ts'
import type { WireRequest } from '../support/wire.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const sheriffs = '/apis/wild.wild.west/v1alpha1/sheriffs'
const cowboys = '/apis/wildwest.dev/v1alpha1/cowboys'
const bindings = '/apis/apis.kcp.io/v1alpha2/apibindings'

const kind = (group: string, plural: string, name: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: name.toLowerCase(), kind: name, listKind: `${name}List` },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { intent: { type: 'string' } } } },
          },
        },
      },
    ],
  },
})

const cowboyKind = kind('wildwest.dev', 'cowboys', 'Cowboy')
const sheriffKind = kind('wild.wild.west', 'sheriffs', 'Sheriff')

const object = (apiVersion: string, of: string, name: string, labels: Record<string, string> = {}) => ({
  apiVersion,
  kind: of,
  metadata: { name, namespace: 'default', labels },
})
const sheriff = (name: string) => object('wild.wild.west/v1alpha1', 'Sheriff', name)
const configMap = (name: string, labels: Record<string, string> = {}) =>
  object('v1', 'ConfigMap', name, labels)
const secret = (name: string, labels: Record<string, string> = {}) => object('v1', 'Secret', name, labels)

interface Claim {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly identityHash?: string
  readonly defaultSelector?: object
}
const claim = (group: string, resource: string, more: Partial<Claim> = {}): Claim => ({
  group,
  resource,
  verbs: ['*'],
  ...more,
})
const taken = ({ defaultSelector: _, ...given }: Claim, more: object = {}) => ({
  ...given,
  state: 'Accepted',
  selector: { matchAll: true },
  ...more,
})

interface Exported {
  readonly claims?: readonly Claim[]
  /** Consumers need the right that the provider's policy gives. */
  readonly isGuarded?: boolean
}

/** What kcp's end-to-end tests of the apiexport view demand: chapter 10, section 13.1, line by line. */
describe('10.13.1 the apiexport view', function () {
  this.timeout(300_000)
  let people: People
  let count = 0

  before(async () => {
    people = await startWithPeople()
  })
  after(() => discard(people.oriel))

  /** Workspaces of this case's own. */
  async function workspaces(...names: readonly string[]): Promise<readonly Tenant[]> {
    count++
    return createWorkspaces(
      people.oriel,
      names.map(name => `${name}-${count}`),
    )
  }

  async function exportKind(
    { kubectl }: Tenant,
    crd: KubeObject,
    { claims = [], isGuarded = false }: Exported = {},
  ): Promise<string> {
    const { group, names } = crd.spec as { group: string; names: { plural: string } }
    const schema = apiResourceSchemaOf(crd, 'today')
    await apply(kubectl, schema, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: group },
      spec: {
        resources: [{ group, name: names.plural, schema: schema.metadata.name, storage: { crd: {} } }],
        permissionClaims: claims,
        ...(isGuarded && { maximalPermissionPolicy: { local: {} } }),
      },
    } as KubeObject)
    await kubectl(['wait', '--for=condition=IdentityValid', '--timeout=60s', `apiexport/${group}`])
    return group
  }

  const identityOf = ({ kubectl }: Tenant, name: string) =>
    kubectl(['get', 'apiexport', name, '-o', 'jsonpath={.status.identityHash}'])

  const bindAs = async (consumer: Tenant, provider: Tenant, name: string, claims: readonly object[] = []) => {
    await apply(consumer.kubectl, bindingOf(provider, name, claims))
    await consumer.kubectl(['wait', '--for=condition=Ready', '--timeout=60s', `apibinding/${name}`])
  }

  /** The view of an export, in one logical cluster or, without a tenant, in all. */
  async function viewOf(provider: Tenant, name: string) {
    const { pathname } = new URL(await publishedUrl(provider, name))
    return (tenant?: Tenant) => `${pathname}/clusters/${tenant?.cluster ?? '*'}`
  }

  type Who = Parameters<People['as']>[0]
  const get = (who: Who, path: string, wanted: WireRequest = {}): Promise<Told> =>
    people.as(who)(path, wanted)
  const post = (path: string, made: object, who: Exclude<Who, undefined> = masters) =>
    people.post(who, path, made)
  const send = (method: string, path: string, body: object, type = 'application/json', who: Who = masters) =>
    get(who, path, { method, body: JSON.stringify(body), headers: { 'content-type': type } })
  const applied = (path: string, body: object, who: Who = masters) =>
    send('PATCH', `${path}?fieldManager=test`, body, 'application/apply-patch+yaml', who)
  const namesAt = async (path: string, who: Who = masters): Promise<readonly string[]> => {
    const told = await get(who, path)
    assert.equal(told.status, 200, told.body)
    return (told.json().items ?? []).map(({ metadata }) => metadata.name).sort()
  }
  const becomes = (path: string, names: readonly string[], who: Who = masters) =>
    eventually(
      () => namesAt(path, who).catch(() => undefined),
      found => JSON.stringify(found) === JSON.stringify(names),
    )
  /** Until the view has noticed. */
  const answers = (ask: () => Promise<Told>, status: number): Promise<Told> =>
    eventually(ask, told => told.status === status)

  /** Lets a user into a provider's workspace, to use its exports. */
  const contentFor = (user: string, { kubectl }: Tenant, verbs: readonly string[] = ['*']) =>
    apply(
      kubectl,
      clusterRole('content', { verbs, apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'] }),
      bound('content', user),
      bound('system:kcp:workspace:access', user),
    )

  it('TestAPIExportAPIBindingsAccess: an export sees its own bindings, and with a claim all of who accepts it', async () => {
    const [provider, other, consumer] = (await workspaces('p', 'o', 'c')) as [Tenant, Tenant, Tenant]
    const claims = [claim('apis.kcp.io', 'apibindings')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const others = await exportKind(other, sheriffKind)
    await bindAs(consumer, other, others)
    await bindAs(consumer, provider, name)
    const all = (await viewOf(provider, name))() + bindings
    await becomes(all, [name])
    const accept = (state: string) =>
      apply(
        consumer.kubectl,
        bindingOf(
          provider,
          name,
          claims.map(each => taken(each, { state })),
        ),
      )
    await accept('Accepted')
    await eventually(
      () => namesAt(all),
      found => found.includes(others) && found.some(each => each.startsWith('tenancy.kcp.io')),
    )
    await accept('Rejected')
    await becomes(all, [name])
  })

  it('TestAPIExportPermissionClaims: claimed objects come with acceptance, and go with the claim', async () => {
    const [wild, provider, consumer, stranger] = (await workspaces('w', 'p', 'c', 's')) as Tenant[] as [
      ...[Tenant, Tenant, Tenant, Tenant],
    ]
    const wildName = await exportKind(wild, sheriffKind)
    for (const tenant of [consumer, stranger]) await bindAs(tenant, wild, wildName)
    const at = ({ path }: Tenant) => `/clusters/${path}`
    const namespaced = '/apis/wild.wild.west/v1alpha1/namespaces/default/sheriffs'
    await post(at(consumer) + namespaced, sheriff('before'))
    await post(at(stranger) + namespaced, sheriff('foreign'))
    const identityHash = await identityOf(wild, wildName)
    const claims = [
      ...['configmaps', 'secrets', 'serviceaccounts'].map(resource => claim('', resource)),
      claim('rbac.authorization.k8s.io', 'clusterroles'),
      claim('authorization.k8s.io', 'subjectaccessreviews'),
      claim('wild.wild.west', 'sheriffs', { identityHash }),
    ]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, provider, name)
    const all = (await viewOf(provider, name))()
    const lists = [
      '/api/v1/configmaps',
      '/api/v1/secrets',
      '/api/v1/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      sheriffs,
    ]
    for (const path of lists) await becomes(all + path, [])
    await becomes(all + bindings, [name])
    await apply(
      consumer.kubectl,
      bindingOf(
        provider,
        name,
        claims.map(each => taken(each)),
      ),
    )
    await becomes(all + sheriffs, ['before'])
    await post(at(consumer) + namespaced, sheriff('later'))
    await becomes(all + sheriffs, ['before', 'later'])
    await eventually(
      () => namesAt(`${all}/api/v1/configmaps`),
      found => found.includes('kube-root-ca.crt'),
    )
    const status = await consumer.kubectl.json<{ status: { appliedPermissionClaims: readonly object[] } }>([
      ...['get', 'apibinding', name],
    ])
    assert.equal(status.status.appliedPermissionClaims.length, claims.length)
    const without = claims.filter(({ resource }) => resource !== 'configmaps')
    const patch = JSON.stringify({ spec: { permissionClaims: without } })
    await provider.kubectl(['patch', 'apiexport', name, '--type=merge', '-p', patch])
    await answers(() => get(masters, `${all}/api/v1/configmaps`), 404)
    const rejected = without.map(each =>
      taken(each, { state: each.resource === 'sheriffs' ? 'Rejected' : 'Accepted' }),
    )
    await apply(consumer.kubectl, bindingOf(provider, name, rejected))
    await becomes(all + sheriffs, [])
  })

  it('TestAPIExportPermissionClaimsDefaultSelector: a default selector changes no label', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps', { defaultSelector: { matchAll: true } })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(
      consumer,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    await post(`/clusters/${consumer.path}${configMaps}`, configMap('seen'))
    const view = (await viewOf(provider, name))(consumer)
    await becomes(view + configMaps, ['kube-root-ca.crt', 'seen'])
  })

  /** `<plural>.<group>` of everything that discovery has, without subresources. */
  async function discovered(base: string): Promise<readonly string[]> {
    const read = async <T>(path: string): Promise<T> => (await get(masters, base + path)).json<T>()
    const { groups } = await read<Groups>('/apis')
    const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)]
    const found = versions.map(async version => {
      const [group = ''] = version.includes('/') ? version.split('/') : ['']
      const { resources } = await read<Resources>(`/${group === '' ? 'api' : 'apis'}/${version}`)
      return resources.flatMap(({ name }) => (name.includes('/') ? [] : [`${name}.${group}`]))
    })
    return (await Promise.all(found)).flat()
  }

  it('TestAPIExportClaimableBuiltInAPIsDrift: what can be claimed is what every workspace has', async () => {
    const [plain] = (await workspaces('plain')) as [Tenant]
    const review = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews']
    const served = await discovered(`/clusters/${plain.path}`)
    const isOfWorkspaces = (each: string) => /\.kcp\.io$/.test(each) && !each.endsWith('.core.kcp.io')
    const wanted = served.filter(
      each => !isOfWorkspaces(each) && !review.some(no => each.startsWith(`${no}.`)),
    )
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = wanted.map(each => {
      const [resource = '', ...group] = each.split('.')
      return claim(group.join('.'), resource)
    })
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(
      consumer,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    const offered = await discovered((await viewOf(provider, name))(consumer))
    for (const each of wanted) assert.ok(offered.includes(each), `${each} cannot be claimed`)
  })

  it('TestAPIExportAuthorizers: a policy of the claimed export holds for the claimer, and a shadowed resource is nobody’s', async () => {
    const [wild, provider, consumer] = (await workspaces('w', 'p', 'c')) as [Tenant, Tenant, Tenant]
    const wildName = await exportKind(wild, sheriffKind, { isGuarded: true })
    const identityHash = await identityOf(wild, wildName)
    const claims = [claim('', 'configmaps'), claim('wild.wild.west', 'sheriffs', { identityHash })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(consumer, wild, wildName)
    await bindAs(
      consumer,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    await contentFor('user-2', provider)
    const view = await viewOf(provider, name)
    await answers(() => get('user-2', `${view()}/api/v1/configmaps`), 200)
    const refused = await get('user-2', view() + sheriffs.replace('v1alpha1', 'v1'))
    assert.equal(refused.status, 403)
    assert.match(
      refused.json().message ?? '',
      /sheriffs.wild.wild.west is forbidden: User "user-2" cannot list resource "sheriffs" in API group "wild.wild.west" at the cluster scope: access denied/,
    )
    const all = { verbs: ['*'], apiGroups: ['wild.wild.west'], resources: ['sheriffs'] }
    await apply(wild.kubectl, clusterRole('sheriffs', all), bound('sheriffs', 'apis.kcp.io:binding:user-2'))
    for (const path of [view(), view(consumer)]) await answers(() => get('user-2', path + sheriffs), 200)
    const [shadowed] = (await workspaces('shadowed')) as [Tenant]
    await apply(shadowed.kubectl, cowboyKind)
    await apply(shadowed.kubectl, bindingOf(provider, name, []))
    await answers(() => get('user-2', view(shadowed) + bindings), 200)
    assert.equal((await get('user-2', view(shadowed) + cowboys)).status, 403)
  })

  it('TestAPIExportBindingAuthorizer: in one logical cluster nothing is open before it is bound and accepted', async () => {
    const [provider, tenant] = (await workspaces('p', 't')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps')]
    const name = await exportKind(provider, sheriffKind, { claims })
    const [dummy] = (await workspaces('dummy')) as [Tenant]
    await bindAs(dummy, provider, name)
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(tenant)
    const make = () => post(view + configMaps, configMap('made'), 'user-2')
    const makeSheriff = () =>
      post(`${view}/apis/wild.wild.west/v1alpha1/namespaces/default/sheriffs`, sheriff('made'), 'user-2')
    for (const ask of [make, makeSheriff]) assert.equal((await ask()).status, 403)
    const accept = (state: string) =>
      apply(
        tenant.kubectl,
        bindingOf(
          provider,
          name,
          claims.map(each => taken(each, { state })),
        ),
      )
    await accept('Rejected')
    await answers(makeSheriff, 201)
    assert.equal((await make()).status, 403)
    await accept('Accepted')
    await answers(make, 201)
    await accept('Rejected')
    await answers(() => get('user-2', `${view}${configMaps}/made`, { method: 'DELETE' }), 403)
  })

  it('TestRootAPIExportAuthorizers: root’s own exports can be claimed, under their policy', async () => {
    const [provider, tenant] = (await workspaces('p', 't')) as [Tenant, Tenant]
    const identityHash = await people.admin([
      ...['get', 'apiexport', 'tenancy.kcp.io', '-o', 'jsonpath={.status.identityHash}'],
    ])
    const claims = [claim('tenancy.kcp.io', 'workspacetypes', { identityHash })]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(
      tenant,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(tenant)
    const types = '/apis/tenancy.kcp.io/v1alpha1/workspacetypes'
    const type = {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'WorkspaceType',
      metadata: { name: 'made-through-the-view' },
    }
    await answers(() => post(view + types, type, 'user-2'), 201)
    assert.ok((await namesAt(`/clusters/${tenant.path}${types}`)).includes('made-through-the-view'))
  })

  it('TestAPIExportAuthDelegation: reviews are the consumer’s', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [
      claim('authorization.k8s.io', 'subjectaccessreviews'),
      claim('authorization.k8s.io', 'localsubjectaccessreviews'),
      claim('authentication.k8s.io', 'tokenreviews'),
    ]
    const name = await exportKind(provider, cowboyKind, { claims })
    await bindAs(
      consumer,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    await contentFor('user-2', provider)
    await apply(consumer.kubectl, bound('cluster-admin', 'user-3'))
    const view = (await viewOf(provider, name))(consumer)
    const group = 'authorization.k8s.io/v1'
    const resourceAttributes = { verb: 'get', version: 'v1', resource: 'secrets', namespace: 'default' }
    const spec = { user: 'user-3', groups: ['system:authenticated'], resourceAttributes }
    const review = (of: string) => ({ apiVersion: group, kind: of, spec })
    const asked = await answers(
      () => post(`${view}/apis/${group}/subjectaccessreviews`, review('SubjectAccessReview'), 'user-2'),
      201,
    )
    assert.equal(asked.json().status?.allowed, true)
    const local = { ...review('LocalSubjectAccessReview'), metadata: { namespace: 'default' } }
    const path = `${view}/apis/${group}/namespaces/default/localsubjectaccessreviews`
    assert.equal((await post(path, local, 'user-2')).json().status?.allowed, true)
    const token = (await consumer.kubectl(['create', 'token', 'default'])).trim()
    const tokenReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const told = await post(`${view}/apis/authentication.k8s.io/v1/tokenreviews`, tokenReview, 'user-2')
    const { authenticated, user } = told.json<{ status: TokenStatus }>().status
    assert.equal(authenticated, true)
    assert.deepEqual(user.extra['authentication.kcp.io/cluster-name'], [consumer.cluster])
  })

  it('TestAPIExportOpenAPI: documents are there for what is served, and for several kinds of a group', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const [first, second] = [cowboyKind, kind('wildwest.dev', 'sheriffs', 'Sheriff')].map(crd =>
      apiResourceSchemaOf(crd, 'today'),
    )
    assert.ok(first && second)
    const resource = (name: string) => ({
      ...{ group: 'wildwest.dev', name, schema: `today.${name}.wildwest.dev`, storage: { crd: {} } },
    })
    await apply(provider.kubectl, first, second, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: 'wildwest.dev' },
      spec: { resources: ['cowboys', 'sheriffs'].map(resource) },
    } as KubeObject)
    await bindAs(consumer, provider, 'wildwest.dev')
    const view = (await viewOf(provider, 'wildwest.dev'))(consumer)
    const { paths } = (await get(masters, `${view}/openapi/v3`)).json<{ paths: Record<string, unknown> }>()
    for (const path of [
      ...['api', 'apis', 'version', 'apis/apis.kcp.io', 'apis/apis.kcp.io/v1alpha1'],
      ...['apis/wildwest.dev', 'apis/wildwest.dev/v1alpha1'],
    ])
      assert.ok(path in paths, path)
    const { body } = await get(masters, `${view}/openapi/v3/apis/wildwest.dev/v1alpha1`)
    for (const of of ['Cowboy', 'Sheriff']) assert.match(body, new RegExp(`"kind": ?"${of}"`))
  })

  it('TestBinding: who binds through a view needs the right to bind himself', async () => {
    const [manager, restricted, consumer] = (await workspaces('m', 'r', 'c')) as [Tenant, Tenant, Tenant]
    const claims = [claim('apis.kcp.io', 'apibindings')]
    const name = await exportKind(manager, cowboyKind, { claims })
    const other = await exportKind(restricted, sheriffKind)
    await bindAs(
      consumer,
      manager,
      name,
      claims.map(each => taken(each)),
    )
    await contentFor('user-2', manager)
    const view = (await viewOf(manager, name))(consumer)
    const make = () => post(view + bindings, bindingOf(restricted, other, []), 'user-2')
    await answers(() => get('user-2', view + bindings), 200)
    const refused = await make()
    assert.equal(refused.status, 403)
    assert.match(refused.body, /no permission to bind to export/)
    const rule = {
      verbs: ['bind'],
      apiGroups: ['apis.kcp.io'],
      resources: ['apiexports'],
      resourceNames: [other],
    }
    await apply(restricted.kubectl, clusterRole('bind', rule), bound('bind', 'user-2'))
    await answers(make, 201)
  })

  it('TestAPIBindingPermissionClaimsVerbs and …SSA: a verb needs both the export’s claim and the binding’s', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const reading = ['get', 'list', 'watch', 'patch']
    const claimed = (verbs: readonly string[]) => [
      claim('', 'configmaps', { verbs }),
      claim('', 'secrets', { verbs }),
    ]
    const name = await exportKind(provider, cowboyKind, { claims: claimed(reading) })
    await bindAs(
      consumer,
      provider,
      name,
      claimed(reading).map(each => taken(each)),
    )
    await contentFor('user-2', provider)
    const view = (await viewOf(provider, name))(consumer)
    const makeSecret = () => post(`${view}/api/v1/namespaces/default/secrets`, secret('made'), 'user-2')
    const applyNew = () => applied(`${view}${configMaps}/new`, configMap('new'), 'user-2')
    await answers(() => get('user-2', `${view}/api/v1/secrets`), 200)
    for (const ask of [makeSecret, applyNew]) assert.equal((await ask()).status, 403)
    const more = claimed([...reading, 'create'])
    const patch = JSON.stringify({ spec: { permissionClaims: more } })
    await provider.kubectl(['patch', 'apiexport', name, '--type=merge', '-p', patch])
    assert.equal((await makeSecret()).status, 403)
    await apply(
      consumer.kubectl,
      bindingOf(
        provider,
        name,
        more.map(each => taken(each)),
      ),
    )
    await answers(makeSecret, 201)
    await answers(applyNew, appliedNew)
    const fewer = more.map(each => taken(each.resource === 'configmaps' ? { ...each, verbs: reading } : each))
    await apply(consumer.kubectl, bindingOf(provider, name, fewer))
    await answers(() => post(view + configMaps, configMap('another'), 'user-2'), 403)
    assert.equal((await get('user-2', `${view}/api/v1/configmaps`)).status, 200)
  })

  it('TestAPIBindingPermissionClaimsSelectors: selectors say what is seen, made, changed and deleted', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps'), claim('', 'secrets')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const [maps, keys] = claims as [Claim, Claim]
    const inside = `/clusters/${consumer.path}`
    const secretsPath = '/api/v1/namespaces/default/secrets'
    await post(inside + configMaps, configMap('own'))
    await post(inside + configMaps, configMap('shared', { team: 'red' }))
    await post(inside + secretsPath, secret('own'))
    await post(inside + secretsPath, secret('shared', { team: 'red' }))
    await bindAs(consumer, provider, name, [
      taken(maps, { selector: { matchLabels: { team: 'red' } } }),
      taken(keys, { selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['red'] }] } }),
    ])
    const view = (await viewOf(provider, name))(consumer)
    await becomes(`${view}/api/v1/configmaps`, ['shared'])
    await becomes(`${view}/api/v1/secrets`, ['shared'])
    const labelled = await post(view + configMaps, configMap('made'))
    assert.equal(labelled.json<KubeObject>().metadata.labels?.team, 'red')
    assert.equal((await post(view + secretsPath, secret('made'))).status, 403)
    for (const path of [`${configMaps}/own`, `${secretsPath}/own`]) {
      const { status } = await get(masters, view + path, { method: 'DELETE' })
      assert.ok([403, 404].includes(status), `${path}: ${status}`)
    }
    const label = (path: string, labels: Record<string, string | null>) =>
      send('PATCH', view + path, { metadata: { labels } }, 'application/merge-patch+json')
    assert.equal((await label(`${configMaps}/shared`, { other: 'a' })).status, 200)
    const kept = await label(`${configMaps}/shared`, { team: null })
    assert.equal(kept.json<KubeObject>().metadata.labels?.team, 'red')
    assert.equal((await label(`${configMaps}/shared`, { team: 'blue' })).status, 403)
    assert.equal((await label(`${secretsPath}/shared`, { team: null })).status, 403)
    assert.equal((await get(masters, view + configMaps, { method: 'DELETE' })).status, 200)
    const left = await namesAt(inside + configMaps)
    assert.ok(left.includes('own') && !left.includes('shared') && !left.includes('made'))
  })

  it('TestAPIBindingPermissionClaimsSelectorUpdate: a changed selector labels what is there anew', async () => {
    const [provider, consumer] = (await workspaces('p', 'c')) as [Tenant, Tenant]
    const claims = [claim('', 'configmaps')]
    const name = await exportKind(provider, cowboyKind, { claims })
    const inside = `/clusters/${consumer.path}${configMaps}`
    await post(inside, configMap('foo', { foo: 'bar' }))
    await post(inside, configMap('plain'))
    await bindAs(
      consumer,
      provider,
      name,
      claims.map(each => taken(each)),
    )
    const view = (await viewOf(provider, name))(consumer)
    await becomes(view + configMaps, ['foo', 'kube-root-ca.crt', 'plain'])
    const selector = { matchLabels: { foo: 'bar' } }
    const narrowed = claims.map(each => taken(each, { selector }))
    await apply(consumer.kubectl, bindingOf(provider, name, narrowed))
    await becomes(view + configMaps, ['foo'])
  })
})

/** What answers an apply that makes something: kcp's views forget that it was made (chapter 10, section 14, 7). */
const appliedNew = process.env.KCP_BIN === undefined ? 201 : 200

interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
}
interface Resources {
  readonly resources: readonly { readonly name: string }[]
}

interface TokenStatus {
  readonly authenticated: boolean
  readonly user: { readonly extra: Readonly<Record<string, readonly string[]>> }
}
