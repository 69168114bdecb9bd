import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { KubeObject } from '../../framework/meta/object.ts'
import { encodeObject } from '../../framework/wire/encode.ts'
import { turnsDuring } from '../../test/support/time/during.ts'
import { CachedItem } from '../cache/item.ts'
import { keyOf, open, configMaps as resource } from '../cache/testing/fixture.ts'
import { type ObjectStore, openObjectStore, type Shape } from './registry.ts'
import { retried } from './retried.ts'

const key = { cluster: 'c1', namespace: 'default', name: 'a' }
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

  it('is neither decoded nor encoded again when it is deleted', async () => {
    const { store, cache, write, close } = await open()
    await write('a/n/x', '1')
    const shape = { number: 0, of: (item: CachedItem) => item }
    const objects = openObjectStore(store, cache, { resource, shape: shape as unknown as Shape })
    const item = await objects.current(keyOf('a/n/x'))
    assert.ok(item !== undefined)
    const decodings = mock.getter(CachedItem.prototype, 'object')
    const removed = await objects.write(item.key, undefined, item.modified)
    assert.equal(decodings.mock.callCount(), 0)
    decodings.mock.restore()
    assert.equal(removed.object.metadata.resourceVersion, String(cache.revision))
    assert.deepEqual(removed.object.data, item.object.data)
    await close()
  })
})
