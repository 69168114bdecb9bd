import type { KubeObject } from '../../framework/meta/object.ts'
import { storageContract } from '../../test/contract/storage.suite.ts'
import { openMemoryStore } from '../store/memory.ts'
import { testShard } from '../testing/shard.ts'

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
const ref = (resource: string) => ({ group: '', version: 'v1', resource })

storageContract('the embedded shard', async () => {
  const store = openMemoryStore()
  const shard = await testShard({ store })
  const clusters = ['one', 'two'] as const
  for (const cluster of clusters) {
    await shard.addCluster(cluster)
    await shard.client.create(ref('namespaces'), { cluster, namespace: '', name: 'default' }, namespace)
  }
  return {
    storage: shard.backend.storage(ref('configmaps')),
    clusters,
    async compact() {
      const { ring } = shard.cache.resource('', 'configmaps', '-')
      while (ring.line.start < ring.line.end) ring.drop()
    },
    async close() {
      await shard.stop()
      await store.close()
    },
  }
})
