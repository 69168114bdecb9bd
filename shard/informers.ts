import type { ResourceRef } from '../framework/contract/backend.ts'
import type { IndexFn, Informer, Informers } from '../framework/contract/informer.ts'
import type { Item } from '../framework/contract/item.ts'
import { Buckets } from '../framework/informers/buckets.ts'
import type { CachedItem, WatchCacheEvent } from './cache/item.ts'
import type { ResourceCache } from './cache/resource.ts'

/** The cache of a ref. */
export type CacheOf = (ref: ResourceRef) => ResourceCache

/**
 * Informers over the watch cache: without copies and always current; handlers are called while a change is applied.
 * Objects are in their storage version.
 */
export function cacheInformers(cacheOf: CacheOf): Informers {
  const informers = new Map<ResourceCache, Informer>()
  return {
    for(ref) {
      const resource = cacheOf(ref)
      const known = informers.get(resource) ?? informerOf(resource)
      informers.set(resource, known)
      return known
    },
  }
}

function informerOf(resource: ResourceCache): Informer {
  const indexes = new Map<IndexFn, (key: string) => readonly Item[]>()
  return {
    get: resource.find,
    list: cluster => [...resource.items(cluster ?? '*')],
    index(fn) {
      const known = indexes.get(fn) ?? indexOf(resource, fn)
      indexes.set(fn, known)
      return known
    },
    onEvent: handler => resource.subscribe(handler, { replay: true }),
    synced: Promise.resolve(),
  }
}

/** Stores for each item the keys under which it is indexed, because `fn` may read other state, too. */
function indexOf(resource: ResourceCache, fn: IndexFn): (key: string) => readonly Item[] {
  const found = new Buckets<CachedItem>(({ id }) => id)
  /** One key is kept without an array. */
  const keysById = new Map<string, string | readonly string[]>()
  const remove = (item: CachedItem): void => {
    for (const key of [keysById.get(item.id) ?? []].flat()) found.delete(key, item)
    keysById.delete(item.id)
  }
  const apply = ({ type, item }: WatchCacheEvent): void => {
    remove(item)
    const keys = type === 'DELETED' ? [] : fn(item)
    const [first] = keys
    if (first !== undefined) keysById.set(item.id, keys.length === 1 ? first : keys)
    for (const key of keys) found.add(key, item)
  }
  resource.subscribe(apply, { replay: true })
  return key => found.get(key)
}
