import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { encodeObject } from '../../framework/wire/encode.ts'
import { turnsDuring } from '../../test/support/time/during.ts'
import { CachedItem } from '../cache/item.ts'
import { testShard } from '../testing/shard.ts'
import { type ObjectStore, retried } from './registry.ts'

const key = { cluster: 'c1', namespace: 'default', name: 'a' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${100_000 + i}`, 'a']))
const large: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data,
}

describe('a large object that is written', () => {
  it('is decoded between other requests', async () => {
    const stored = new CachedItem(key, encodeObject(large), { revision: 1, modified: 1, labels: {} })
    const store = { current: async () => stored } as unknown as ObjectStore
    let seen: unknown
    const about = { group: '', resource: 'configmaps', name: 'a' }
    const write = async ({ object }: CachedItem): Promise<void> => {
      seen = object.data
    }
    const turns = await turnsDuring(retried(store, key, about, write))
    assert.ok(turns > 8, `${turns} turns`)
    assert.deepEqual(seen, data)
  })

  it('is encoded between other requests when it is deleted', async () => {
    const shard = await testShard()
    const storage = shard.backend.storage(configMaps)
    const ctx = shard.context(configMaps, key.cluster)
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    const ref = { group: '', version: 'v1', resource: 'namespaces' }
    await shard.client.create(ref, { ...key, namespace: '', name: 'default' }, namespace)
    await storage.create(ctx, key, large, { dryRun: false, fieldManager: 'test' })
    const deleting = storage.delete(ctx, key, () => undefined, { dryRun: false })
    const turns = await turnsDuring(deleting)
    assert.ok(turns > 8, `${turns} turns`)
    assert.deepEqual((await deleting).item.object.data, data)
    await shard.stop()
  })
})
