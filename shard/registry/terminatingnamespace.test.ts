import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { SlowAdmission } from '../testing/slowadmission.ts'

const cluster = 'c1'
const namespaceKey = { cluster, namespace: '', name: 'n' }
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
const configMap: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n' },
}

describe('an object whose namespace is deleted while it is admitted', () => {
  let shard: TestShard
  const stop = new AbortController()
  const slow = new SlowAdmission(['configmaps'])
  before(async () => {
    shard = await testShard({ admission: () => [slow.plugin] })
    await shard.addCluster(cluster)
    void shard.run(stop.signal)
    await shard.client.create(resources.namespaces, namespaceKey, namespace)
  })
  after(async () => {
    stop.abort()
    await shard.stop()
  })

  it('is not created: it would stay, and be in a later namespace of the same name', async () => {
    const creating = shard.client.create(
      resources.configMaps,
      { cluster, namespace: 'n', name: 'a' },
      configMap,
    )
    const refused = assert.rejects(creating, { code: 404, message: 'namespaces "n" not found' })
    await slow.holds()
    await shard.client.delete(resources.namespaces, namespaceKey)
    const namespaces = shard.informers.for(resources.namespaces)
    await until(() => namespaces.get(cluster, '', 'n') === undefined || undefined)
    slow.goOn()
    await refused
    assert.deepEqual(await shard.client.list(resources.configMaps, cluster), [])
  })
})
