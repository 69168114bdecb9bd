import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type TestShard, testShard } from '../../testing/shard.ts'
import { SlowAdmission } from '../../testing/slowadmission.ts'

const key = { cluster: 'c1', namespace: 'n', name: 'a' }
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
const unowned: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    namespace: 'n',
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
  },
}

describe('an object without owners that changes while the garbage collector deletes it', () => {
  let shard: TestShard
  let running: Promise<void>
  let slow: SlowAdmission
  beforeEach(async () => {
    slow = new SlowAdmission(['configmaps'], 'DELETE')
    shard = await testShard({ admission: () => [slow.plugin] })
    running = shard.run()
    await shard.addCluster(key.cluster)
    await shard.client.create(
      resources.namespaces,
      { cluster: key.cluster, namespace: '', name: 'n' },
      namespace,
    )
    await shard.client.create(resources.configMaps, key, unowned)
    await slow.holds()
  })
  afterEach(async () => {
    await shard.stop()
    await running
  })

  /** The object after the deletion, which is admitted after the change. */
  async function leftAfter(change: (object: KubeObject) => KubeObject): Promise<KubeObject | undefined> {
    await shard.client.update(resources.configMaps, key, change)
    slow.open()
    await Promise.all(shard.controllers.map(controller => controller.idle()))
    return shard.informers.for(resources.configMaps).get(key.cluster, key.namespace, key.name)?.object
  }

  it('is kept when it has no reference any more', async () => {
    const kept = await leftAfter(({ metadata: { ownerReferences, ...metadata }, ...object }) => ({
      ...object,
      metadata,
    }))
    assert.deepEqual(kept?.metadata.ownerReferences, undefined)
    assert.equal(kept?.metadata.name, 'a')
  })

  it('is deleted when something else was changed', async () => {
    assert.equal(await leftAfter(object => ({ ...object, data: { changed: 'yes' } })), undefined)
  })
})
