import assert from 'node:assert/strict'
import { originAnnotation } from '../../../framework/contract/item.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { storageKey } from '../../cache/codec.ts'
import { storedResourceOf } from '../../manifests/apply.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { openKcpShard } from '../../testing/kcpshard.ts'
import { type TestShard, until } from '../../testing/shard.ts'

const configMap = (cluster: string, annotations = {}): Manifest => ({
  cluster,
  resource: resources.configMaps,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', annotations } },
})

const logicalCluster = (cluster: string): Manifest => ({
  cluster,
  resource: resources.logicalClusters,
  object: {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: { name: logicalClusterName },
  },
})

describe('objects of a logical cluster that does not exist', () => {
  let shard: TestShard
  let running: Promise<unknown>
  const kept = (): readonly string[] =>
    ['gone', 'copied', 'present', 'system:own'].filter(
      cluster => shard.informers.for(resources.configMaps).get(cluster, 'default', 'a') !== undefined,
    )

  beforeEach(async () => {
    shard = (await openKcpShard({ store: openMemoryStore() })).shard
    await shard.content.add([
      logicalCluster('present'),
      configMap('gone'),
      configMap('copied', { [originAnnotation]: 'other' }),
      configMap('present'),
      configMap('system:own'),
    ])
  })
  afterEach(async () => {
    await shard.stop()
    await running
    await shard.store.close()
  })

  it('are removed when the controllers start, except for copies of another shard', async () => {
    assert.deepEqual(kept(), ['gone', 'copied', 'present', 'system:own'])
    running = shard.run()
    await until(() => (kept().includes('gone') ? undefined : true))
    assert.deepEqual(kept(), ['copied', 'present', 'system:own'])
  })

  it('are removed when another server stored them before it removed the logical cluster, whose content it had listed', async () => {
    running = shard.run()
    await until(() => (kept().includes('gone') ? undefined : true))
    const place = { cluster: 'present', namespace: '', name: logicalClusterName }
    const key = storageKey(storedResourceOf(resources.logicalClusters), place)
    await shard.store.commit([{ key, value: undefined }])
    await until(() => (kept().includes('present') ? undefined : true))
    assert.deepEqual(kept(), ['copied', 'system:own'])
  })
})
