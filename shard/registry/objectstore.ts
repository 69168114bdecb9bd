import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { atVersion, type Encoded, encodeObject } from '../../framework/wire/encode.ts'
import { encodeStoredForm, storedForm } from '../cache/codec.ts'
import { CachedItem } from '../cache/item.ts'
import { type StoredResource, storageKey } from '../cache/key.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import type { Store } from '../store/store.ts'
import type { Shelf } from './registry.ts'
import { checkSize } from './size.ts'
import type { Shape } from './storedshape.ts'

/** Milliseconds for the winner of a race to become durable. */
const longestWait = 1_000

/** Where the objects of one resource lie, and what they are to look like. */
export interface ShelfPlace {
  readonly resource: StoredResource
  readonly shape: Shape
}

/** The shelf of one resource: reads come from the cache, writes go to the store and return when the cache shows them. */
export function openShelf(store: Store, watchCache: WatchCache, { resource, shape }: ShelfPlace): Shelf {
  const cache = watchCache.resource(resource.group, resource.resource, resource.segment)
  const current = async (key: ObjectKey): Promise<CachedItem | undefined> => {
    const item = cache.get(key)
    return item && shape.of(item)
  }
  return {
    current,
    isStored: item => cache.get(item.key) === item,
    async write(key, object, expected) {
      const last = await current(key)
      const stored = object && storedForm(object)
      const value = stored && encodeStoredForm(stored, shape.number)
      if (value !== undefined) checkSize(value)
      const revision = await store.commit([{ key: storageKey(resource, key), value, expected }])
      await watchCache.at(revision)
      const cached = cache.get(key)
      if (cached?.modified !== revision) return overtaken(stored ?? last?.object, key, revision)
      if (stored !== undefined) cached.remember(atVersion(stored, String(revision)))
      return cached
    },
    async settled(key, expected) {
      const patience = AbortSignal.timeout(longestWait)
      while (!patience.aborted && (cache.get(key)?.modified ?? 0) === expected)
        await cache.reached(cache.revision + 1, patience)
    },
    detached: (key, object) => detached(key, encodeObject(object), object),
  }
}

/** What was written, where the cache has nothing or what somebody else has written since. */
function overtaken(object: KubeObject | undefined, key: ObjectKey, revision: number): CachedItem {
  if (object === undefined) throw new Error(`nothing was written at revision ${revision}`)
  const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
  return detached(key, encodeObject(versioned), versioned)
}

function detached(key: ObjectKey, encoded: Encoded, { metadata }: KubeObject): CachedItem {
  const revision = Number(metadata.resourceVersion ?? 0)
  return new CachedItem(key, encoded, { revision, modified: revision, labels: metadata.labels ?? {} })
}
