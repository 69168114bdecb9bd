import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName, KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import {
  encodeStoredForm,
  parseStorageKey,
  type StoredResource,
  storageKey,
  storedForm,
} from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { CachedItem } from '../cache/item.ts'
import { creationOf } from '../manifests/apply.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { admissionCondition, admissionLease, commitChecked } from '../registry/conditions.ts'
import { withoutPresented } from '../registry/strategy.ts'
import { intact, type Store, type StoreChange, type StoredValue } from '../store/store.ts'

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
  /** Likewise, also in a logical cluster that moves to another shard, where all other writes are refused; returns the revision. */
  transfer(changes: readonly StoreChange[]): Promise<number>
  /**
   * The change with which a commit becomes the end of what other servers have admitted and not stored yet: they check it again, and
   * know the commit then. None when there are no other servers.
   */
  admissionEnd(): readonly StoreChange[]
  /**
   * The first values whose keys are in [from, to), as they are stored: at most `limit`, and fewer when they are large. None if there
   * are none.
   */
  values(from: string, to: string, limit: number): Promise<readonly StoredValue[]>
  /** Calls `handler` for every change of any resource. Returns a function that removes the handler. */
  subscribe: WatchCache['subscribe']
}

/** Objects that are removed in one commit, whose events are applied in one step. */
export const removalBatch = 250

/** Removes the objects in several commits. Throws `StoreConflict` when one of them has changed. */
export async function removeAll(
  content: Pick<ClusterContent, 'remove'>,
  objects: readonly Stored[],
): Promise<void> {
  for (let i = 0; i < objects.length; i += removalBatch)
    await content.remove(objects.slice(i, i + removalBatch))
}

/** Bytes after which no further values are read. */
const mostBytes = 8 * 1024 * 1024

/** Without decoding the object if it is in the cache. */
export const isBeingDeleted = (item: Item): boolean =>
  item instanceof CachedItem ? item.isTerminating : item.object.metadata.deletionTimestamp !== undefined

/** `permission`: called before each change; what it returns throws when that may not be stored any more. */
export function clusterContent(
  store: Store,
  cache: WatchCache,
  refusalOfWrites: (cluster: ClusterName) => Error | undefined = () => undefined,
  permission?: () => () => void,
): ClusterContent {
  const transfer = async (changes: readonly StoreChange[], checkAlso = () => {}): Promise<number> => {
    const mayStore = permission?.()
    const check = (): void => {
      mayStore?.()
      checkAlso()
    }
    const revision = await commitPermitted({ store, cache }, changes, check)
    await cache.at(revision)
    return revision
  }
  const commit = async (changes: readonly StoreChange[]): Promise<void> => {
    if (changes.length > 0) await transfer(changes, () => checkOpen(changes, refusalOfWrites))
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
    transfer: changes => transfer(changes),
    admissionEnd: () => (store.isShared ? [newAdmission()] : []),
    values: (from, to, limit) => firstValues(store, [from, to], limit),
    subscribe: handler => cache.subscribe(handler),
  }
}

/** `check` throws when the changes are not permitted: over a shared store it is called before each attempt. Returns the revision. */
async function commitPermitted(
  place: { readonly store: Store; readonly cache: WatchCache },
  changes: readonly StoreChange[],
  check: () => void,
): Promise<number> {
  const required = () => {
    check()
    return [admissionCondition(place.cache)]
  }
  if (place.store.isShared) return commitChecked(place, changes, required)
  check()
  return place.store.commit(changes)
}

/** Throws when one of the logical clusters accepts no writes now. */
function checkOpen(
  changes: readonly StoreChange[],
  refusalOfWrites: (cluster: ClusterName) => Error | undefined,
): void {
  for (const { key } of changes) {
    const refusal = refusalOfWrites(parseStorageKey(key)?.key.cluster ?? '')
    if (refusal !== undefined) throw refusal
  }
}

/** Replaces the Lease, whatever its revision is. */
function newAdmission(): StoreChange {
  const { cluster, ...metadata } = admissionLease
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} }
  const { key, value } = creationOf({ cluster, resource: resources.leases, object })
  return { key, value }
}

async function firstValues(
  store: Store,
  [from, to]: readonly [string, string],
  limit: number,
): Promise<readonly StoredValue[]> {
  const found: StoredValue[] = []
  let bytes = 0
  for await (const batch of store.range(from, to, { limit })) {
    found.push(...batch.map(intact))
    bytes += batch.reduce((sum, { value }) => sum + value.length, 0)
    if (bytes >= mostBytes) break
  }
  return found
}

/** An object in the place of that which was read: the caller guarantees that it is complete and valid. */
export const replacementOf = ({ resource, item }: Stored, object: KubeObject): StoreChange => ({
  key: storageKey(resource, item.key),
  value: encodeStoredForm(storedForm(withoutPresented(object, item.key.cluster)), item.shape),
  expected: item.modified,
})

/** The deletion of an object at the revision that was read. */
export const removalOf = ({ resource, item }: Stored): StoreChange => ({
  key: storageKey(resource, item.key),
  value: undefined,
  expected: item.modified,
})
