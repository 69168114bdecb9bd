import assert from 'node:assert/strict'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject, OwnerReference } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'

const cluster = 'c1'
const events: ResourceRef = { group: '', version: 'v1', resource: 'events' }

describe('the garbage collector', () => {
  let shard: TestShard
  let running: Promise<void>
  const create = (ref: ResourceRef, object: KubeObject) => {
    const { name = '', namespace = '' } = object.metadata
    return shard.client.create(ref, { cluster, namespace, name }, object)
  }
  const configMap = (namespace: string, name: string, owner?: Partial<OwnerReference>): KubeObject => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', ...owner }
    const owners = owner === undefined ? {} : { ownerReferences: [reference] }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...owners } }
  }
  const gone = (namespace: string, name: string) => {
    const maps = shard.informers.for(resources.configMaps)
    return until(() => (maps.get(cluster, namespace, name) === undefined ? true : undefined))
  }
  const warnings = async () => (await shard.client.list(events, cluster)).map(({ object }) => object)

  before(async () => {
    shard = await testShard()
    running = shard.run()
    await shard.addCluster(cluster)
    for (const name of ['a', 'b'])
      await create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  })
  after(async () => {
    await shard.stop()
    await running
  })

  it('says nothing of objects that follow their owner', async () => {
    const { metadata } = await create(resources.configMaps, configMap('a', 'owner'))
    await create(resources.configMaps, configMap('a', 'child', { name: 'owner', uid: metadata.uid ?? '' }))
    await shard.client.delete(resources.configMaps, { cluster, namespace: 'a', name: 'owner' })
    await gone('a', 'child')
    await Promise.all(shard.controllers.map(controller => controller.idle()))
    assert.deepEqual(await warnings(), [])
  })

  it('warns of an owner in another namespace, and deletes the object', async () => {
    const { metadata } = await create(resources.configMaps, configMap('b', 'parent'))
    const uid = metadata.uid ?? ''
    const owner = { kind: 'Secret', name: 'wrong', uid }
    const child = await create(resources.configMaps, configMap('a', 'stray', owner))
    await gone('a', 'stray')
    await Promise.all(shard.controllers.map(controller => controller.idle()))
    const [warning = configMap('', ''), ...others] = await warnings()
    assert.deepEqual(others, [])
    const { involvedObject, reason, message, type, source, count } = warning as KubeObject &
      Record<string, unknown>
    assert.deepEqual(involvedObject, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'stray',
      namespace: 'a',
      uid: child.metadata.uid,
    })
    assert.deepEqual(
      [warning.metadata.namespace, type, reason, count],
      ['a', 'Warning', 'OwnerRefInvalidNamespace', 1],
    )
    assert.deepEqual(source, { component: 'garbage-collector-controller' })
    const named = `[v1/Secret, namespace: a, name: wrong, uid: ${uid}]`
    assert.equal(message, `ownerRef ${named} does not exist in namespace "a"`)
  })
})
