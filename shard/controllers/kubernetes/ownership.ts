import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName, OwnerReference } from '../../../framework/meta/object.ts'
import type { StoredResource } from '../../cache/codec.ts'
import type { CachedItem, WatchCacheEvent } from '../../cache/item.ts'

/** One object of any resource. */
export interface ObjectPlace extends StoredResource {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
}

/** A place as a key. Only names may contain bars, and the name is last. */
export const placeKey = ({ group, resource, segment, cluster, namespace, name }: ObjectPlace): string =>
  [group, resource, segment, cluster, namespace, name].join('|')

export function parsePlace(key: string): ObjectPlace {
  const [group = '', resource = '', segment = '', cluster = '', namespace = '', ...name] = key.split('|')
  return { group, resource, segment, cluster, namespace, name: name.join('|') }
}

export const placeOf = (resource: StoredResource, item: Item): ObjectPlace => ({ ...resource, ...item.key })

const mark = Buffer.from('"ownerReferences":')

/** Whether metadata names owners; looks at the bytes, because nearly no object does. */
const mayHaveOwners = (item: CachedItem): boolean => {
  const { rest, end } = item.offsets
  return item.bytes.subarray(rest, end).includes(mark)
}

const none: readonly OwnerReference[] = []

export const ownersOf = (item: CachedItem): readonly OwnerReference[] =>
  mayHaveOwners(item) ? (item.object.metadata.ownerReferences ?? none) : none

/** Who depends on whom, by the owner's uid; owners and dependents are in the same logical cluster. */
export interface Ownership {
  readonly isEmpty: boolean
  apply(resource: StoredResource, event: Pick<WatchCacheEvent, 'type' | 'item' | 'previous'>): void
  /** Keys of places. */
  dependentsOf(cluster: ClusterName, uid: string): readonly string[]
}

export function createOwnership(): Ownership {
  const dependents = new Map<string, Set<string>>()
  const idOf = (cluster: ClusterName, uid: string): string => `${cluster}|${uid}`
  const drop = (place: string, cluster: ClusterName, owners: readonly OwnerReference[]): void => {
    for (const { uid } of owners) {
      const id = idOf(cluster, uid)
      dependents.get(id)?.delete(place)
      if (dependents.get(id)?.size === 0) dependents.delete(id)
    }
  }
  const put = (place: string, cluster: ClusterName, owners: readonly OwnerReference[]): void => {
    for (const { uid } of owners) {
      const id = idOf(cluster, uid)
      dependents.set(id, (dependents.get(id) ?? new Set()).add(place))
    }
  }
  return {
    get isEmpty() {
      return dependents.size === 0
    },
    apply(resource, { type, item, previous }) {
      const before = previous === undefined ? none : ownersOf(previous)
      const now = type === 'DELETED' ? none : ownersOf(item)
      if (before.length === 0 && now.length === 0) return
      const place = placeKey(placeOf(resource, item))
      drop(place, item.cluster, before)
      put(place, item.cluster, now)
    },
    dependentsOf: (cluster, uid) => [...(dependents.get(idOf(cluster, uid)) ?? [])],
  }
}
