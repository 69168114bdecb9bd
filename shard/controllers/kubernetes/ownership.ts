import { sameJson } from '../../../framework/json/same.ts'
import type { ClusterName, OwnerReference } from '../../../framework/meta/object.ts'
import type { StoredResource } from '../../cache/codec.ts'
import type { CachedItem, WatchCacheEvent } from '../../cache/item.ts'
import { placeKey, placeOf } from './ownerreferences.ts'

const none: readonly OwnerReference[] = []

export const ownersOf = (item: CachedItem): readonly OwnerReference[] =>
  item.mayHaveOwners ? (item.object.metadata.ownerReferences ?? none) : none

/** An object that has owners, and whether it blocks the deletion of one of them. */
interface Dependent {
  readonly place: string
  readonly blocks: boolean
}

/** The dependents of one owner, by place. An owner with one dependent has no map: tenants choose the number of owners. */
type Dependents = Dependent | Map<string, Dependent>

/** Dependents by the uid of the owner; both are in the same logical cluster. */
export class Ownership {
  readonly #clusters = new Map<ClusterName, Map<string, Dependents>>()

  get isEmpty(): boolean {
    return this.#clusters.size === 0
  }

  apply(resource: StoredResource, { type, item, previous }: OwnershipEvent): void {
    const before = previous === undefined ? none : ownersOf(previous)
    const now = type === 'DELETED' ? none : ownersOf(item)
    if (before === now || sameJson(before, now)) return
    const place = placeKey(placeOf(resource, item))
    const owners = this.#clusters.get(item.cluster) ?? new Map<string, Dependents>()
    for (const { uid } of before) drop(owners, uid, place)
    const [free, blocking]: readonly [Dependent, Dependent] = [
      { place, blocks: false },
      { place, blocks: true },
    ]
    for (const { uid, blockOwnerDeletion } of now) put(owners, uid, blockOwnerDeletion ? blocking : free)
    if (owners.size === 0) this.#clusters.delete(item.cluster)
    else this.#clusters.set(item.cluster, owners)
  }

  /** Keys of objects. */
  dependentsOf(cluster: ClusterName, uid: string): readonly string[] {
    return [...eachOf(this.#clusters.get(cluster)?.get(uid))].map(({ place }) => place)
  }

  /** Keys of the dependents that block the foreground deletion of the owner. */
  blockersOf(cluster: ClusterName, uid: string): readonly string[] {
    const places: string[] = []
    for (const { place, blocks } of eachOf(this.#clusters.get(cluster)?.get(uid)))
      if (blocks) places.push(place)
    return places
  }
}

type OwnershipEvent = Pick<WatchCacheEvent, 'type' | 'item' | 'previous'>

const eachOf = (dependents: Dependents | undefined): Iterable<Dependent> => {
  if (dependents === undefined) return []
  return dependents instanceof Map ? dependents.values() : [dependents]
}

/** An object blocks an owner that one of several references to it says it blocks. */
function put(owners: Map<string, Dependents>, uid: string, dependent: Dependent): void {
  const known = owners.get(uid)
  if (known instanceof Map) {
    if (known.get(dependent.place)?.blocks !== true) known.set(dependent.place, dependent)
  } else if (known === undefined || (known.place === dependent.place && !known.blocks)) {
    owners.set(uid, dependent)
  } else if (known.place !== dependent.place) {
    owners.set(uid, new Map([known, dependent].map(each => [each.place, each])))
  }
}

function drop(owners: Map<string, Dependents>, uid: string, place: string): void {
  const known = owners.get(uid)
  if (known instanceof Map) {
    known.delete(place)
    if (known.size === 0) owners.delete(uid)
  } else if (known?.place === place) {
    owners.delete(uid)
  }
}
