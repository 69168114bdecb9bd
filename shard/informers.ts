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

/**
 * Items by key, in the order in which they were added. Most keys of most indexes have one item, which is then kept without a map
 * of its own: a map of one item takes 200 bytes more.
 */
export class Buckets<T extends object | string> {
  readonly #byKey = new Map<string, T | ReadonlyMap<string, T>>()
  readonly #idOf: (item: T) => string

  /** `idOf`: equal for the states of one object. */
  constructor(idOf: (item: T) => string) {
    this.#idOf = idOf
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  get(key: string): readonly T[] {
    const known = this.#byKey.get(key)
    if (known === undefined) return []
    return isMap(known) ? [...known.values()] : [known]
  }

  /** Adds an item, or replaces the one with its id. */
  add(key: string, item: T): void {
    const known = this.#byKey.get(key)
    const id = this.#idOf(item)
    if (isMap(known)) (known as Map<string, T>).set(id, item)
    else if (known === undefined || this.#idOf(known) === id) this.#byKey.set(key, item)
    else this.#byKey.set(key, new Map([known, item].map(each => [this.#idOf(each), each])))
  }

  /** Removes the item with the id of `item`, if there is one. */
  delete(key: string, item: T): void {
    const known = this.#byKey.get(key)
    if (known === undefined) return
    const id = this.#idOf(item)
    if (!isMap(known)) {
      if (this.#idOf(known) === id) this.#byKey.delete(key)
      return
    }
    const left = known as Map<string, T>
    left.delete(id)
    if (left.size === 1) for (const lone of left.values()) this.#byKey.set(key, lone)
  }
}

const isMap = <T>(value: T | ReadonlyMap<string, T> | undefined): value is ReadonlyMap<string, T> =>
  value instanceof Map
