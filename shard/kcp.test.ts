import assert from 'node:assert/strict'
import type { ResourceRef } from '../framework/contract/backend.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import type { APIBinding, APIExport, APIExportEndpointSlice } from '../kcp/apis.ts'
import { conditionIs, findCondition } from '../kcp/conditions.ts'
import type { LogicalCluster } from '../kcp/core.ts'
import { resources } from '../kcp/resources.ts'
import type { Workspace } from '../kcp/tenancy.ts'
import type { TenancyResources } from './controllers/host.ts'
import { type TestKcpShard, testKcpShard } from './testing/kcpshard.ts'
import { type TestShard, until } from './testing/shard.ts'

const rootCA = '-----BEGIN CERTIFICATE-----\n'

let shard: TestShard
let tenancy: TenancyResources
let started: TestKcpShard

const at = (cluster: string, name: string, namespace = '') => ({ cluster, namespace, name })
const find = <T extends KubeObject>(
  ref: ResourceRef,
  cluster: string,
  name: string,
  namespace = '',
): T | undefined => shard.informers.for(ref).get(cluster, namespace, name)?.object as T | undefined

const create = (ref: ResourceRef, cluster: string, object: KubeObject): Promise<KubeObject> =>
  shard.client.create(ref, at(cluster, object.metadata.name ?? '', object.metadata.namespace), object)

/** Creates a workspace and waits for it; returns its logical cluster. */
async function workspace(name: string, parent = 'root'): Promise<string> {
  await create(tenancy.workspaces, parent, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: {
      name,
      annotations: { 'experimental.tenancy.kcp.io/owner': '{"username":"alice","groups":["dev"]}' },
    },
    spec: {},
  })
  return until(() => {
    const found = find<Workspace>(tenancy.workspaces, parent, name)
    return found?.status?.phase === 'Ready' ? found.spec?.cluster : undefined
  })
}

const schema = (plural: string, kind: string, prefix = 'v1', group = 'example.io'): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: `${prefix}.${plural}.${group}` },
  spec: {
    group,
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
        },
      },
    ],
  },
})

const exportObject = (name: string, plurals: readonly string[], spec: object = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name },
  spec: {
    resources: plurals.map(plural => ({
      name: plural,
      group: 'example.io',
      schema: `v1.${plural}.example.io`,
    })),
    ...spec,
  },
})

const binding = (name: string, path: string, exported: string, spec: object = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name },
  spec: { reference: { export: { path, name: exported } }, ...spec },
})

const bound = (cluster: string, name: string): Promise<APIBinding> =>
  until(() => {
    const found = find<APIBinding>(resources.apiBindings, cluster, name)
    return found?.status?.phase === 'Bound' ? found : undefined
  })

const widgetsOf = async (provider: string): Promise<ResourceRef> => {
  const identity = await until(
    () => find<APIExport>(resources.apiExports, provider, 'widgets')?.status?.identityHash,
  )
  return { group: 'example.io', version: 'v1', resource: 'widgets', identity }
}

describe('a kcp shard', () => {
  before(async () => {
    started = await testKcpShard(rootCA)
    shard = started.shard
    tenancy = started.tenancy
  })
  after(() => started.stop())

  it('starts with root bound to its own exports', () => {
    const root = find<APIBinding>(resources.apiBindings, 'root', 'tenancy.kcp.io')
    assert.equal(root?.status?.boundResources?.length, 3)
    assert.ok(shard.backend.apis('root')?.find('tenancy.kcp.io', 'v1alpha1', 'workspaces'))
    assert.ok(shard.backend.apis('root')?.find('core.kcp.io', 'v1alpha1', 'shards'))
  })
  it('gives every export of root an endpoint slice', async () => {
    const slice = await until(() => {
      const found = find<APIExportEndpointSlice>(resources.endpointSlices, 'root', 'tenancy.kcp.io')
      return conditionIs(found?.status?.conditions, 'APIExportValid', 'True') ? found : undefined
    })
    assert.deepEqual(slice.spec?.export, { name: 'tenancy.kcp.io', path: 'root' })
    assert.ok(conditionIs(slice.status?.conditions, 'PartitionValid', 'True'))
  })

  it('makes a workspace ready', async () => {
    const cluster = await workspace('org')
    const object = await until(() => {
      const found = find<Workspace>(tenancy.workspaces, 'root', 'org')
      return found?.metadata.labels?.['tenancy.kcp.io/phase'] === 'Ready' ? found : undefined
    })
    assert.equal(object.spec?.URL, 'https://localhost:6443/clusters/root:org')
    assert.deepEqual(object.spec?.type, { name: 'organization', path: 'root' })
    assert.equal(object.metadata.annotations?.['experimental.tenancy.kcp.io/owner'], '{"username":"alice"}')
    const home = find<LogicalCluster>(resources.logicalClusters, cluster, 'cluster')
    assert.equal(home?.status?.URL, `https://localhost:6443/clusters/${cluster}`)
    assert.deepEqual(home?.spec?.createdBy, { username: 'alice', groups: ['dev'] })
    assert.equal(home?.metadata.annotations?.['kcp.io/path'], 'root:org')
    assert.deepEqual(home?.spec?.initializers, ['root:universal', 'system:apibindings'])
    assert.equal(shard.backend.resolve('root:org'), cluster)
  })
  it('creates the default objects of kcp in a workspace', async () => {
    const cluster = await workspace('content')
    await until(() => find(resources.configMaps, cluster, 'kube-root-ca.crt', 'kube-system'))
    await until(() => find(resources.serviceAccounts, cluster, 'default', 'default'))
    const admin = find(resources.clusterRoleBindings, cluster, 'workspace-admin')
    assert.deepEqual(admin?.subjects, [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' },
    ])
    const bindings = shard.informers.for(resources.apiBindings).list(cluster)
    assert.equal(bindings.length, 2)
    await until(() => {
      const home = find<LogicalCluster>(resources.logicalClusters, cluster, 'cluster')
      const locks = home?.metadata.annotations?.['internal.apis.kcp.io/resource-bindings'] ?? '{}'
      return Object.keys(JSON.parse(locks)).length === 5 ? true : undefined
    })
  })
  it('nests workspaces', async () => {
    const parent = await workspace('outer')
    const child = await workspace('inner', parent)
    assert.equal(shard.backend.resolve('root:outer:inner'), child)
    assert.deepEqual(find<Workspace>(tenancy.workspaces, parent, 'inner')?.spec?.type, {
      name: 'universal',
      path: 'root',
    })
  })

  it('binds an export, with claims, and follows it', async () => {
    const provider = await workspace('provider')
    const consumer = await workspace('consumer')
    await create(resources.apiResourceSchemas, provider, schema('widgets', 'Widget'))
    const claims = [{ group: '', resource: 'configmaps', verbs: ['*'] }]
    await create(
      resources.apiExports,
      provider,
      exportObject('widgets', ['widgets'], { permissionClaims: claims }),
    )
    const accepted = claims.map(claim => ({ ...claim, selector: { matchAll: true }, state: 'Accepted' }))
    await create(
      resources.apiBindings,
      consumer,
      binding('widgets', 'root:provider', 'widgets', { permissionClaims: accepted }),
    )
    const first = await bound(consumer, 'widgets')
    assert.deepEqual(
      first.status?.conditions?.map(c => `${c.type} ${c.status}`),
      [
        'Ready True',
        'APIExportValid True',
        'BindingUpToDate True',
        'InitialBindingCompleted True',
        'PermissionClaimsApplied True',
        'PermissionClaimsValid True',
      ],
    )
    assert.equal(first.status?.apiExportClusterName, provider)
    assert.equal(first.status?.appliedPermissionClaims?.length, 1)
    const widgets = await widgetsOf(provider)
    await create(widgets, consumer, {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default' },
      spec: { size: 1 },
    })
    const labels = await until(() => {
      const item = shard.informers.for(resources.configMaps).get(consumer, 'default', 'kube-root-ca.crt')
      return item && Object.keys(item.meta.labels).length > 0 ? item.meta.labels : undefined
    })
    assert.deepEqual(Object.values(labels), ['3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe'])

    await create(resources.apiResourceSchemas, provider, schema('gadgets', 'Gadget'))
    await shard.client.update(resources.apiExports, at(provider, 'widgets'), current => ({
      ...current,
      spec: {
        ...(current.spec as object),
        resources: (exportObject('', ['widgets', 'gadgets']).spec as { resources: unknown }).resources,
      },
    }))
    await until(() => {
      const found = find<APIBinding>(resources.apiBindings, consumer, 'widgets')
      return found?.status?.boundResources?.length === 2 ? true : undefined
    })
  })
  it('reports why a binding fails', async () => {
    const consumer = await workspace('conflicts')
    const provider = find<Workspace>(tenancy.workspaces, 'root', 'provider')?.spec?.cluster ?? ''
    await create(resources.apiExports, provider, exportObject('others', ['widgets']))
    await create(resources.apiBindings, consumer, binding('first', 'root:provider', 'widgets'))
    await bound(consumer, 'first')
    await create(resources.apiBindings, consumer, binding('second', 'root:provider', 'others'))
    const message = await until(() => {
      const found = find<APIBinding>(resources.apiBindings, consumer, 'second')
      return findCondition(found?.status?.conditions, 'BindingUpToDate')?.message
    })
    assert.equal(
      message,
      'Unable to bind APIs because they are bound by other APIBindings or CRDs: map[widgets.example.io:{first false}]',
    )
    await shard.client.delete(resources.apiBindings, at(consumer, 'first'))
    await bound(consumer, 'second')
  })
  it('reports a missing export of root', async () => {
    const consumer = await workspace('lonely')
    await create(resources.apiBindings, consumer, binding('nothing', 'root', 'nothing'))
    const condition = await until(() => {
      const found = find<APIBinding>(resources.apiBindings, consumer, 'nothing')
      return findCondition(found?.status?.conditions, 'APIExportValid')
    })
    assert.equal(condition.reason, 'APIExportNotFound')
    assert.equal(condition.message, 'APIExport root|nothing not found')
  })
  it('takes the instances with the binding', async () => {
    const provider = find<Workspace>(tenancy.workspaces, 'root', 'provider')?.spec?.cluster ?? ''
    const consumer = find<Workspace>(tenancy.workspaces, 'root', 'consumer')?.spec?.cluster ?? ''
    const widgets = await widgetsOf(provider)
    await shard.client.delete(resources.apiBindings, at(consumer, 'widgets'))
    await until(() => (find(resources.apiBindings, consumer, 'widgets') === undefined ? true : undefined))
    assert.deepEqual(shard.informers.for(widgets).list(consumer), [])
  })
  it('deletes a workspace with all its content', async () => {
    const cluster = await workspace('doomed')
    await create(resources.configMaps, cluster, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'default' },
    })
    await shard.client.delete(tenancy.workspaces, at('root', 'doomed'))
    await until(() => (find(tenancy.workspaces, 'root', 'doomed') === undefined ? true : undefined))
    const left: string[] = []
    for (const cache of shard.cache.resources())
      for (const item of cache.items(cluster)) left.push(`${cache.resource.resource} ${item.name}`)
    assert.deepEqual(left, [])
  })
})
