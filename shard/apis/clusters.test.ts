import assert from 'node:assert/strict'
import { resourceList } from '../../framework/discovery/discovery.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import {
  bindIn,
  identity,
  resourceSchema,
  schemaBody,
  servedVersion,
  storageVersion,
  widgets,
} from '../testing/bindings.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

describe('the API sets of logical clusters', () => {
  let shard: TestShard
  const create = (ref: Parameters<TestShard['client']['create']>[0], cluster: string, object: KubeObject) =>
    shard.client.create(ref, { cluster, namespace: '', name: object.metadata.name ?? '' }, object)
  const one = (name = 'v1.widgets.example.com') =>
    create(resources.apiResourceSchemas, 'provider', resourceSchema(name, [storageVersion('v1')]))
  const widget = (name: string, rest: object = {}): KubeObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name },
    ...rest,
  })
  const namesIn = async (cluster: string, hash = identity) => {
    const found: string[] = []
    const ref = { ...widgets, identity: hash }
    for await (const batch of shard.backend.storage(ref).list(shard.context(ref, cluster), { cluster }))
      for (const item of batch) found.push(`${item.key.cluster}/${item.key.name}`)
    return found
  }

  beforeEach(async () => {
    shard = await testShard()
  })
  afterEach(() => shard.stop())

  it('is nothing without a LogicalCluster, except for system clusters', async () => {
    assert.equal(shard.backend.apis('c1'), undefined)
    assert.ok(shard.backend.apis('system:admin'))
    await shard.addCluster('c1')
    assert.equal(shard.backend.apis('c1'), shard.backend.apis('system:admin'))
    assert.equal(shard.backend.resolve('c1'), 'c1')
    assert.equal(shard.backend.resolve('c1:child'), undefined)
    await shard.client.delete(resources.logicalClusters, { cluster: 'c1', namespace: '', name: 'cluster' })
    assert.equal(shard.backend.apis('c1'), undefined)
  })

  it('ends watches that begin after the logical cluster was deleted', async () => {
    await shard.addCluster('c1')
    const ctx = shard.context(resources.configMaps, 'c1')
    const query = { cluster: 'c1', initialEvents: true, bookmarks: true }
    const watch = shard.backend.storage(resources.configMaps).watch(ctx, query)
    await shard.client.delete(resources.logicalClusters, { cluster: 'c1', namespace: '', name: 'cluster' })
    for await (const _ of watch);
  })

  it('ends watches that begin after the definition of their resource was replaced', async () => {
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', await one())
    const { storage } = shard.backend.apis('c1')?.find('example.com', 'v1', 'widgets') ?? assert.fail()
    const query = { cluster: 'c1', initialEvents: true, bookmarks: true }
    await bindIn(shard, 'c1', await one('v2.widgets.example.com'))
    for await (const _ of storage.watch(shard.context(widgets, 'c1'), query));
  })

  it('is one object for a thousand clusters with the same bindings', async () => {
    const schema = await one()
    const clusters = Array.from({ length: 1000 }, (_, i) => `c${i}`)
    await Promise.all(
      clusters.map(async cluster => {
        await shard.addCluster(cluster)
        await bindIn(shard, cluster, schema)
      }),
    )
    const sets = new Set(clusters.map(cluster => shard.backend.apis(cluster)))
    assert.equal(sets.size, 1)
    const [set] = sets
    assert.ok(set?.find('example.com', 'v1', 'widgets'))
    assert.notEqual(set, shard.backend.apis('system:admin'))
    await shard.client.delete(resources.apiBindings, { cluster: 'c7', namespace: '', name: 'widgets' })
    assert.equal(shard.backend.apis('c7'), shard.backend.apis('system:admin'))
    assert.equal(shard.backend.apis('c8'), set)
  })

  it('is nothing for a binding whose schema is not there', async () => {
    const schema = await one()
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', { ...schema, metadata: { ...schema.metadata, uid: 'other' } })
    assert.equal(shard.backend.apis('c1')?.find('example.com', 'v1', 'widgets'), undefined)
    assert.deepEqual(await namesIn('*'), [])
  })

  it('are resources without creates and updates in discovery, while their binding is deleted', async () => {
    const verbs = () => {
      const apis = shard.backend.apis('c1')
      const list = apis && (resourceList(apis, 'example.com', 'v1') as { resources: { verbs: string[] }[] })
      return list?.resources[0]?.verbs.join()
    }
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', await one())
    const key = { cluster: 'c1', namespace: '', name: 'widgets' }
    await shard.client.update(resources.apiBindings, key, object => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['example.com/test'] },
    }))
    assert.equal(verbs(), 'create,delete,deletecollection,get,list,patch,update,watch')
    await shard.client.delete(resources.apiBindings, key)
    assert.equal(verbs(), 'delete,deletecollection,get,list,watch')
  })

  it('takes strategic merge patches for custom resources in groups of Kubernetes only', async () => {
    const schema = resourceSchema('v1.widgets.apps', [storageVersion('v1')])
    await shard.addCluster('c1')
    const made = await create(resources.apiResourceSchemas, 'provider', {
      ...schema,
      spec: { ...(schema.spec as object), group: 'apps' },
    })
    await bindIn(shard, 'c1', made, { group: 'apps' })
    await shard.addCluster('c2')
    await bindIn(shard, 'c2', await one())
    const taken = (cluster: string, group: string) =>
      shard.backend.apis(cluster)?.find(group, 'v1', 'widgets')?.strategicMergePatch
    assert.deepEqual([taken('c1', 'apps'), taken('c2', 'example.com')], [true, undefined])
  })

  it('are the built-in kinds, whatever a provider exports under their names', async () => {
    const stolen = (group: string, plural: string, kind: string): KubeObject => {
      const schema = resourceSchema(`v1.${plural}.${group || 'core'}`, [storageVersion('v1')])
      const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
      return { ...schema, spec: { ...(schema.spec as object), group, names } }
    }
    await shard.addCluster('c1')
    for (const [group, plural, kind] of [
      ['', 'secrets', 'Secret'],
      ['rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole'],
      ['coordination.k8s.io', 'leases', 'Lease'],
    ] as const) {
      const native = shard.backend.apis('c1')?.find(group, 'v1', plural)
      const schema = await create(resources.apiResourceSchemas, 'provider', stolen(group, plural, kind))
      await bindIn(shard, 'c1', schema, { group, resource: plural })
      const served = shard.backend.apis('c1')
      assert.equal(served?.find(group, 'v1', plural)?.storage, native?.storage, plural)
      assert.equal(served?.find(group, 'v1', `${plural}:${identity}`), undefined)
      await shard.client.delete(resources.apiBindings, { cluster: 'c1', namespace: '', name: 'widgets' })
    }
  })

  it('keeps objects of different identities apart, and finds them over all clusters', async () => {
    const schema = await one()
    const other = 'b'.repeat(64)
    for (const [cluster, hash] of [
      ['c1', identity],
      ['c2', identity],
      ['c3', other],
    ] as const) {
      await shard.addCluster(cluster)
      await bindIn(shard, cluster, schema, { hash })
      await create(widgets, cluster, widget('a'))
    }
    assert.deepEqual(await namesIn('*'), ['c1/a', 'c2/a'])
    assert.deepEqual(await namesIn('*', other), ['c3/a'])
    const apis = shard.backend.apis('c1')
    assert.ok(apis?.find('example.com', 'v1', `widgets:${identity}`))
    assert.equal(apis?.find('example.com', 'v1', `widgets:${other}`), undefined)
    const wildcard = shard.backend.apis('*')
    assert.ok(wildcard?.find('example.com', 'v1', `widgets:${other}`))
    assert.equal(wildcard?.find('example.com', 'v1', 'widgets'), undefined)
    assert.equal(
      shard.backend.storage({ ...widgets, identity }),
      shard.backend.storage({ ...widgets, identity }),
    )
  })

  it('shows objects in every served version, pruned and defaulted by it', async () => {
    const old = schemaBody({
      properties: {
        spec: { type: 'object', properties: { count: { type: 'integer' }, size: { type: 'integer' } } },
      },
    })
    const schema = await create(
      resources.apiResourceSchemas,
      'provider',
      resourceSchema('v2.widgets.example.com', [storageVersion('v1'), servedVersion('v1beta1', old)]),
    )
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', schema)
    const beta = { ...widgets, version: 'v1beta1' }
    await create(beta, 'c1', { ...widget('a', { spec: { count: 1 } }), apiVersion: 'example.com/v1beta1' })
    const key = { cluster: 'c1', namespace: '', name: 'a' }
    const read = async (ref: typeof widgets) =>
      (await shard.backend.storage(ref).get(shard.context(ref, 'c1'), key)).object
    assert.deepEqual(
      [(await read(widgets)).apiVersion, (await read(widgets)).spec],
      ['example.com/v1', { size: 3 }],
    )
    assert.deepEqual(
      [(await read(beta)).apiVersion, (await read(beta)).spec],
      ['example.com/v1beta1', { size: 3 }],
    )
  })

  it('has both versions of an export', async () => {
    await shard.addCluster('c1')
    const made = await create({ ...resources.apiExports, version: 'v1alpha1' }, 'c1', {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIExport',
      metadata: { name: 'widgets' },
      spec: { latestResourceSchemas: ['v1.widgets.example.com'] },
    })
    assert.equal(made.apiVersion, 'apis.kcp.io/v1alpha1')
    const key = { cluster: 'c1', namespace: '', name: 'widgets' }
    const { object } = await shard.backend
      .storage(resources.apiExports)
      .get(shard.context(resources.apiExports, 'c1'), key)
    assert.deepEqual((object.spec as { resources: unknown }).resources, [
      { name: 'widgets', group: 'example.com', schema: 'v1.widgets.example.com', storage: { crd: {} } },
    ])
  })

  it('is the same after a restart', async () => {
    const schema = await one()
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', schema)
    await create(widgets, 'c1', widget('a'))
    const again = await testShard({ store: shard.store })
    try {
      assert.ok(again.backend.apis('c1')?.find('example.com', 'v1', 'widgets'))
    } finally {
      await again.stop()
    }
  })
})
