import { clustersView } from '../../cmd/views/clustersview.ts'
import { silent } from '../../framework/contract/log.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { connectShard } from '../../remote/connection/connection.ts'
import { remoteStorage } from '../../remote/storage.ts'
import { openMemoryStore } from '../../shard/store/memory.ts'
import { testShard } from '../../shard/testing/shard.ts'
import { serveShard } from '../support/servers/servedshard.ts'
import type { StorageSubject } from './storage/bench.ts'
import { storageContract } from './storage.suite.ts'

const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
const ref = (resource: string) => ({ group: '', version: 'v1', resource })

async function served(): Promise<StorageSubject> {
  const store = openMemoryStore()
  const shard = await testShard({ store })
  const clusters = ['one', 'two'] as const
  for (const cluster of clusters) {
    await shard.addCluster(cluster)
    await shard.client.create(ref('namespaces'), { cluster, namespace: '', name: 'default' }, namespace)
  }
  const { access, server } = await serveShard(shard, [clustersView({ ...shard, log: silent })])
  const connection = connectShard(access, silent)
  return {
    storage: remoteStorage(connection, ref('configmaps')),
    clusters,
    async compact() {
      const { ring } = shard.cache.resource('', 'configmaps', '-')
      while (ring.line.start < ring.line.end) ring.drop()
    },
    async close() {
      await connection.close()
      await server.close(0)
      await shard.stop()
      await store.close()
    },
  }
}

storageContract('a shard in another process', served, {
  skip: { 'a change knows the state before it': 'no shard tells' },
})
