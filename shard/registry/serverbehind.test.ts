import assert from 'node:assert/strict'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { localAdminCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { customSegment } from '../cache/segments.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { type BehindStore, behindStore } from '../testing/behindstore.ts'
import { bindIn, resourceSchema, storageVersion, widgets } from '../testing/bindings.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { SlowAdmission } from '../testing/slowadmission.ts'

const cluster = 'c1'
const group = 'example.com'
const things = { group, version: 'v1', resource: 'things' }
const inCluster = (name: string): ObjectKey => ({ cluster, namespace: '', name })
const inNamespace = { cluster, namespace: 'n', name: 'a' }
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
const configMap: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } }
const thing: KubeObject = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } }
const widget: KubeObject = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural: 'things', kind: 'Thing' } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

describe('an object that a server admits while it does not know yet what another server has done', () => {
  let store: Store
  let leader: TestShard
  let late: TestShard
  let behind: BehindStore
  let stop: AbortController
  let slow: SlowAdmission
  beforeEach(async () => {
    stop = new AbortController()
    slow = new SlowAdmission(['configmaps', 'things', 'widgets'])
    store = openMemoryStore()
    leader = await testShard({ store: behindStore(store) })
    await leader.addCluster(cluster)
    await addPlaceOfLeases()
    behind = behindStore(store)
    late = await testShard({ store: behind, admission: () => [slow.plugin] })
    void leader.run(stop.signal)
  })
  afterEach(async () => {
    stop.abort()
    await late.stop()
    await leader.stop()
    await store.close()
  })

  async function addPlaceOfLeases(): Promise<void> {
    const place = { cluster: localAdminCluster, namespace: '', name: 'kube-system' }
    await leader.addCluster(localAdminCluster)
    await leader.client.create(resources.namespaces, place, {
      ...namespace,
      metadata: { name: place.name },
    })
  }

  const exists = (shard: TestShard, ref: ResourceRef, name: string): boolean =>
    shard.informers.for(ref).get(cluster, '', name) !== undefined
  const seen = (shard: TestShard, ref: ResourceRef, name: string): Promise<unknown> =>
    until(() => exists(shard, ref, name) || undefined)
  const gone = (ref: ResourceRef, name: string): Promise<unknown> =>
    until(() => !exists(leader, ref, name) || undefined)

  /** The late server admits the object, and stores it after `meanwhile`, of which it has no event yet. */
  async function create(
    ref: ResourceRef,
    key: ObjectKey,
    object: KubeObject,
    meanwhile: () => Promise<unknown>,
  ): Promise<unknown> {
    const creating = late.client.create(ref, key, object)
    creating.catch(() => undefined)
    await slow.holds()
    behind.fallBehind()
    await meanwhile()
    slow.goOn()
    return creating
  }

  async function deleted(ref: ResourceRef, name: string): Promise<void> {
    await leader.client.delete(ref, inCluster(name))
    await gone(ref, name)
  }

  async function addNamespace(object = namespace): Promise<void> {
    await leader.client.create(resources.namespaces, inCluster('n'), object)
    await seen(late, resources.namespaces, 'n')
  }

  const storedThings = (): readonly string[] =>
    [...leader.content.of(cluster)].flatMap(({ resource, item }) =>
      resource.resource === 'things' ? [item.id] : [],
    )

  const servedBy = (shard: TestShard, resource: string): Promise<unknown> =>
    until(() => shard.backend.apis(cluster)?.find(group, 'v1', resource))

  it('is not stored when its namespace is gone: it would be in a later one', async () => {
    await addNamespace()
    const creating = create(resources.configMaps, inNamespace, configMap, () =>
      deleted(resources.namespaces, 'n'),
    )
    await assert.rejects(creating, { code: 404, message: 'namespaces "n" not found' })
    assert.deepEqual(await leader.client.list(resources.configMaps, cluster), [])
  })

  it('is not stored when its namespace is being deleted: nobody would delete it', async () => {
    await addNamespace({ ...namespace, metadata: { name: 'n', finalizers: ['example.com/held'] } })
    const creating = create(resources.configMaps, inNamespace, configMap, () =>
      leader.client.delete(resources.namespaces, inCluster('n')),
    )
    await assert.rejects(creating, { code: 403, message: /because it is being terminated/ })
    assert.deepEqual(await leader.client.list(resources.configMaps, cluster), [])
  })

  it('is stored when its namespace was only changed', async () => {
    await addNamespace()
    await create(resources.configMaps, inNamespace, configMap, () =>
      leader.client.update(resources.namespaces, inCluster('n'), current => ({
        ...current,
        metadata: { ...current.metadata, labels: { ...current.metadata.labels, changed: 'yes' } },
      })),
    )
    assert.equal((await leader.client.list(resources.configMaps, cluster)).length, 1)
  })

  it('is not stored when its definition is gone: nobody would see it, and nobody would remove it', async () => {
    await leader.client.create(resources.crds, inCluster(`things.${group}`), definition)
    await servedBy(late, 'things')
    const creating = create(things, inCluster('a'), thing, () => deleted(resources.crds, `things.${group}`))
    await assert.rejects(creating, { code: 403, message: /custom resource definition is terminating/ })
    assert.deepEqual(storedThings(), [])
  })

  it('is not one of a later definition when a server of an earlier version has stored it', async () => {
    const place = storageKey({ group, resource: 'things', segment: customSegment }, inCluster('a'))
    await leader.content.transfer([{ key: place, value: encodeStored(thing) }])
    await leader.client.create(resources.crds, inCluster(`things.${group}`), definition)
    await servedBy(leader, 'things')
    assert.deepEqual(storedThings(), [])
  })

  it('is not stored when its binding is gone: it would be one of a later binding', async () => {
    const place = { cluster: 'provider', namespace: '', name: `v1.widgets.${group}` }
    const schema = resourceSchema(place.name, [storageVersion('v1')])
    await bindIn(leader, cluster, await leader.client.create(resources.apiResourceSchemas, place, schema))
    await servedBy(late, 'widgets')
    const creating = create(widgets, inCluster('a'), widget, () => deleted(resources.apiBindings, 'widgets'))
    await assert.rejects(creating, { code: 403 })
  })
})
