import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName, ObjectKey } from '../../framework/meta/object.ts'
import { type StoredResource, storageKey } from '../cache/codec.ts'
import type { CachedItem } from '../cache/item.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import { creationOf } from '../manifests/apply.ts'
import type { Manifest } from '../manifests/manifest.ts'
import type { Store, StoreChange } from '../store/store.ts'

/** One object of whatever resource. */
export interface Stored {
  readonly resource: StoredResource
  readonly item: CachedItem
}

/** Everything in a logical cluster, whether somebody serves it or not. */
export interface ClusterContent {
  of(cluster: ClusterName): Generator<Stored>
  get(resource: StoredResource, key: ObjectKey): Stored | undefined
  count(resource: StoredResource, cluster: ClusterName): number
  /** All or nothing, without asking anybody; resolves when they are gone from the cache. Throws `StoreConflict` when one
   * of them has been changed. */
  remove(objects: readonly Stored[]): Promise<void>
  /** Likewise: new objects, stored as they are, in one commit. Throws `StoreConflict` when one of them is there. */
  add(objects: readonly Manifest[]): Promise<void>
  /** Likewise, whatever it is. */
  commit(changes: readonly StoreChange[]): Promise<void>
  /** Calls `handler` when an object that is being deleted has changed, and when it is gone. Returns its removal. */
  onDeparture(handler: (departing: Stored) => void): () => void
}

const deletionMark = Buffer.from('"deletionTimestamp":')

/** Looks at bytes first: nearly nothing is being deleted. */
export const isDeparting = (item: Item): boolean =>
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
    onDeparture: handler =>
      cache.subscribe(({ resource }, { type, item }) => {
        if (type === 'DELETED' || (type === 'MODIFIED' && isDeparting(item))) handler({ resource, item })
      }),
  }
}

/** What removes an object as it is known. */
export const removalOf = ({ resource, item }: Stored): StoreChange => ({
  key: storageKey(resource, item.key),
  value: undefined,
  expected: item.modified,
})
