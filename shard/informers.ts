import type { ResourceRef } from '../framework/contract/backend.ts'
import type { IndexFn, Informer, Informers } from '../framework/contract/informer.ts'
import type { Item } from '../framework/contract/item.ts'
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
  const found = new Map<string, Map<string, CachedItem>>()
  const keysById = new Map<string, readonly string[]>()
  const remove = (id: string): void => {
    for (const key of keysById.get(id) ?? []) {
      const items = found.get(key)
      items?.delete(id)
      if (items?.size === 0) found.delete(key)
    }
    keysById.delete(id)
  }
  const apply = ({ type, item }: WatchCacheEvent): void => {
    remove(item.id)
    const keys = type === 'DELETED' ? [] : fn(item)
    if (keys.length > 0) keysById.set(item.id, keys)
    for (const key of keys) {
      const items = found.get(key) ?? new Map<string, CachedItem>()
      found.set(key, items.set(item.id, item))
    }
  }
  resource.subscribe(apply, { replay: true })
  return key => [...(found.get(key)?.values() ?? [])]
}
