import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName, ObjectKey } from '../../framework/meta/object.ts'
import { type StoredResource, storageKey } from '../cache/codec.ts'
import type { CachedItem } from '../cache/item.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import { creationOf } from '../manifests/apply.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { Store, StoreChange } from '../store/store.ts'

/** A stored object and its resource. */
export interface Stored {
  readonly resource: StoredResource
  readonly item: CachedItem
}

/** All objects in a logical cluster, also those of resources that are not served. */
export interface ClusterContent {
  of(cluster: ClusterName): Generator<Stored>
  get(resource: StoredResource, key: ObjectKey): Stored | undefined
  count(resource: StoredResource, cluster: ClusterName): number
  /**
   * Removes the objects in one commit, without admission and finalizers; resolves when they are gone from the
   * cache. Throws `StoreConflict` when one of them has changed.
   */
  remove(objects: readonly Stored[]): Promise<void>
  /** Stores new objects as they are in one commit. Throws `StoreConflict` when one of them exists. */
  add(objects: readonly Manifest[]): Promise<void>
  /** Likewise, whatever it is. */
  commit(changes: readonly StoreChange[]): Promise<void>
  /** Calls `handler` for every change of any resource. Returns a function that removes the handler. */
  subscribe: WatchCache['subscribe']
}

const deletionMark = Buffer.from('"deletionTimestamp":')

/** Searches the bytes first, because few objects are terminating. */
export const isBeingDeleted = (item: Item): boolean =>
  item.bytes.includes(deletionMark) && item.object.metadata.deletionTimestamp !== undefined

export function clusterContent(store: Store, cache: WatchCache): ClusterContent {
  const commit = async (changes: readonly StoreChange[]): Promise<void> => {
    if (changes.length > 0) await cache.at(await store.commit(changes))
  }
  return {
    *of(cluster) {
      for (const each of cache.resources())
        for (const item of each.items(cluster)) yield { resource: each.resource, item }
    },
    get(resource, key) {
      const item = cache.resource(resource.group, resource.resource, resource.segment).get(key)
      return item && { resource, item }
    },
    count: ({ group, resource, segment }, cluster) => cache.resource(group, resource, segment).count(cluster),
    remove: objects => commit(objects.map(removalOf)),
    add: objects => commit(objects.map(creationOf)),
    commit,
    subscribe: handler => cache.subscribe(handler),
  }
}

/** The deletion of an object at the revision that was read. */
export const removalOf = ({ resource, item }: Stored): StoreChange => ({
  key: storageKey(resource, item.key),
  value: undefined,
  expected: item.modified,
})
