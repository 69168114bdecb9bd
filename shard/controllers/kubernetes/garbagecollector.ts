import { Readers } from '../../../framework/async/awaitable.ts'
import { CacheEvent } from '../../../framework/cache/ring.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import { sameJson } from '../../../framework/json/same.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { OwnerReference } from '../../../framework/meta/object.ts'
import type { StoredResource } from '../../cache/codec.ts'
import type { CachedItem } from '../../cache/item.ts'
import { type ControllerClient, ifFound, updateObject } from '../client.ts'
import type { Controller } from '../controller.ts'
import { createQueue } from '../queue.ts'
import { WorkerTurn } from '../workerturn.ts'
import { ForeignOwners } from './foreignowners.ts'
import {
  foreground,
  isTerminatingWith,
  type ObjectPlace,
  type OwnerState,
  orphan,
  parsePlace,
  placeKey,
  placeOf,
} from './ownerreferences.ts'
import { Ownership, ownersOf } from './ownership.ts'
import {
  type CollectedObject,
  hasOtherOwners,
  type Lookup,
  ownerStatesOf,
  referencesOf,
  targetAt,
  targetsOf,
} from './targets.ts'

/** The dependencies of the garbage collector. */
interface GarbageCollectorDeps extends Omit<Collection, 'ownership' | 'changed' | 'foreign' | 'readers'> {
  readonly log: Logger
}

interface Collector {
  readonly ownership: Ownership
  /** Owners with a finalizer of the garbage collector, by cluster and uid. */
  readonly held: Map<string, string>
  /** Keys of objects whose references have changed since they were last processed. */
  readonly changed: Set<string>
}

/**
 * Deletes objects whose owners are all gone, in each logical cluster by itself (`pkg/controller/garbagecollector`).
 */
export function garbageCollector(deps: GarbageCollectorDeps): Controller {
  const ownership = new Ownership()
  const held = new Map<string, string>()
  const changed = new Set<string>()
  const foreign = new ForeignOwners(deps)
  const readers = new Readers({ atOnce: 1 })
  const queue = createQueue({
    name: 'garbagecollector',
    log: deps.log,
    reconcile: async key => {
      const again = await collect({ ...deps, ownership, changed, foreign, readers }, parsePlace(key))
      if (again !== undefined) queue.addAfter(key, again)
    },
  })
  const handle = (resource: StoredResource, event: CacheEvent<CachedItem>): void => {
    if (isOfNoInterest(event)) return
    ownership.apply(resource, event)
    for (const key of affected({ ownership, held, changed }, resource, event)) queue.add(key)
  }
  return {
    name: 'garbagecollector',
    idle: () => queue.idle(),
    async run(signal) {
      const remove = deps.cache.subscribe((cache, event) => handle(cache.resource, event))
      for (const cache of deps.cache.resources())
        for (const item of cache.items()) handle(cache.resource, new CacheEvent('ADDED', item))
      await queue.run(signal)
      remove()
    },
  }
}

/** Terminating with a finalizer of the garbage collector. */
const isHeldByCollector = (item: CachedItem): boolean =>
  item.mayBeTerminating &&
  (isTerminatingWith(item.object, foreground) || isTerminatingWith(item.object, orphan))

/** A new object that has no owners and is not one that waits for its dependents, as most. */
const isOfNoInterest = ({ type, item }: CacheEvent<CachedItem>): boolean =>
  type === 'ADDED' && !item.mayHaveOwners && !item.mayBeTerminating

const uidKey = (cluster: string, uid: string): string => `${cluster}|${uid}`

/**
 * Keeps the terminating owners, and returns the keys to process after a change: the object, its dependents when it
 * is deleted, and its owners that may wait for it.
 */
function affected(
  { ownership, held, changed }: Collector,
  resource: StoredResource,
  { type, item, previous }: CacheEvent<CachedItem>,
): readonly string[] {
  const isHeld = type !== 'DELETED' && isHeldByCollector(item)
  const own = (): string => placeKey(placeOf(resource, item))
  if (isHeld) held.set(uidKey(item.cluster, item.meta.uid), own())
  else if (previous !== undefined && isHeldByCollector(previous))
    held.delete(uidKey(item.cluster, item.meta.uid))
  const owners = ownersOf(item)
  const before = type === 'DELETED' || previous === undefined ? owners : ownersOf(previous)
  const waiting = before.flatMap(({ uid }) => held.get(uidKey(item.cluster, uid)) ?? [])
  if (type === 'DELETED')
    return ownership.isEmpty ? waiting : [...waiting, ...ownership.dependentsOf(item.cluster, item.meta.uid)]
  const isNew = previous === undefined || !sameJson(owners, before)
  if (owners.length > 0 && isNew) changed.add(own())
  return isHeld || owners.length > 0 ? [own(), ...waiting] : waiting
}

/** The dependencies of one step. */
interface Collection extends Lookup {
  readonly client: ControllerClient
  readonly ownership: Ownership
  readonly changed: Set<string>
  readonly foreign: ForeignOwners
}

/** Milliseconds until an owner whose kind is not served is looked up again. */
const unknownAgain = 30_000

/** Handles one object. Returns after how many milliseconds to try again; undefined: not before the next change. */
async function collect(of: Collection, place: ObjectPlace): Promise<number | undefined> {
  const isChanged = of.changed.delete(placeKey(place))
  const target = await targetAt(of, place)
  if (target === undefined) return undefined
  const { object } = target
  if (isTerminatingWith(object, orphan)) return releaseDependents(of, target)
  if (isTerminatingWith(object, foreground)) return deleteDependents(of, target)
  if (object.metadata.deletionTimestamp === undefined) return deleteUnowned(of, target, isChanged)
  return undefined
}

/** Also the dependents that appear meanwhile. */
const dependentsOf = (of: Collection, { place, object }: CollectedObject): AsyncGenerator<CollectedObject> =>
  targetsOf(of, () => of.ownership.dependentsOf(place.cluster, object.metadata.uid ?? ''))

/** `orphan`: removes the owner from its dependents, then its finalizer. */
async function releaseDependents(of: Collection, target: CollectedObject): Promise<number | undefined> {
  const uid = target.object.metadata.uid ?? ''
  const turn = new WorkerTurn()
  for await (const dependent of dependentsOf(of, target)) {
    if (turn.isOver) return 0
    await dropOwners(of, dependent, new Set([uid]))
    turn.done()
  }
  await dropFinalizer(of, target, orphan)
  return undefined
}

/**
 * `foregroundDeletion`: deletes the dependents; removes the finalizer when those that block the owner are gone.
 */
async function deleteDependents(of: Collection, target: CollectedObject): Promise<number | undefined> {
  const turn = new WorkerTurn()
  for await (const dependent of dependentsOf(of, target)) {
    if (turn.isOver) return 0
    if (dependent.object.metadata.deletionTimestamp !== undefined) continue
    if ((await deleteUnowned(of, dependent)) === undefined) turn.done()
  }
  if (!(await isBlocked(of, target))) await dropFinalizer(of, target, foreground)
  return undefined
}

async function isBlocked(of: Collection, { place, object }: CollectedObject): Promise<boolean> {
  const blockers = (): readonly string[] => of.ownership.blockersOf(place.cluster, object.metadata.uid ?? '')
  for await (const _ of targetsOf(of, blockers)) return true
  return false
}

/** Deletes an object without a solid owner; otherwise removes the references to absent owners. `isChanged`: they are new. */
async function deleteUnowned(
  of: Collection,
  target: CollectedObject,
  isChanged = false,
): Promise<number | undefined> {
  const owners = referencesOf(target.object)
  if (owners.length === 0) return undefined
  const standings = await ownerStatesOf(of, target)
  const absent = owners.filter((_, i) => standings[i] === 'absent')
  if (isChanged) await of.foreign.report(target.place.cluster, target.object, absent)
  const lost = owners.filter((_, i) => standings[i] === 'absent' || standings[i] === 'waiting')
  if (standings.includes('solid')) await dropOwners(of, target, new Set(lost.map(owner => owner.uid)))
  else if (standings.includes('unknown')) return unknownAgain
  else await deleteTarget(of, target, standings)
  return undefined
}

async function deleteTarget(
  of: Collection,
  target: CollectedObject,
  standings: readonly OwnerState[],
): Promise<void> {
  const { place, ref, object } = target
  const dependents = standings.includes('waiting') ? await stateOfDependents(of, target) : 'none'
  // The change is an event, after which the object is processed again.
  if (hasOtherOwners(of, target)) return
  if (dependents === 'waiting') await unblock(of, target)
  const { uid = '', resourceVersion, finalizers = [], ownerReferences } = object.metadata
  const kept = finalizers.includes(orphan) ? 'Orphan' : 'Background'
  const propagation = dependents !== 'none' || finalizers.includes(foreground) ? 'Foreground' : kept
  const version = resourceVersion === undefined ? {} : { resourceVersion }
  const conflict = await ifFound(
    of.client.delete(ref, place, { propagation, uid, ...version }).catch(ifConflict),
  )
  if (conflict === undefined) return
  const now = await targetAt(of, place)
  // Its owners may have changed: that is an event.
  if (now === undefined || !sameJson(now.object.metadata.ownerReferences ?? [], ownerReferences ?? [])) return
  await ifFound(of.client.delete(ref, place, { propagation, uid }))
}

function ifConflict(error: unknown): StatusError {
  if (error instanceof StatusError && error.reason === 'Conflict') return error
  throw error
}

/** `waiting`: one of them waits in foreground deletion for its own dependents. */
async function stateOfDependents(
  of: Collection,
  target: CollectedObject,
): Promise<'none' | 'some' | 'waiting'> {
  let state: 'none' | 'some' = 'none'
  for await (const { object } of dependentsOf(of, target)) {
    if (isTerminatingWith(object, foreground)) return 'waiting'
    state = 'some'
  }
  return state
}

/** Breaks a cycle of owners that block each other (`unblockOwnerReferencesPatch`). */
const unblock = (of: Collection, target: CollectedObject): Promise<unknown> =>
  changeOwners(of, target, owners => owners.map(owner => ({ ...owner, blockOwnerDeletion: false })))

const dropOwners = async (
  of: Collection,
  target: CollectedObject,
  uids: ReadonlySet<string>,
): Promise<void> => {
  if (uids.size > 0) await changeOwners(of, target, owners => owners.filter(owner => !uids.has(owner.uid)))
}

function changeOwners(
  { client }: Collection,
  { ref, place }: CollectedObject,
  change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
): Promise<unknown> {
  return updateObject(client, ref, place, current => {
    const { ownerReferences, ...metadata } = current.metadata
    const next = change(ownerReferences ?? [])
    return { ...current, metadata: next.length === 0 ? metadata : { ...metadata, ownerReferences: next } }
  })
}

const dropFinalizer = (
  { client }: Collection,
  { ref, place }: CollectedObject,
  finalizer: string,
): Promise<unknown> =>
  updateObject(client, ref, place, current => ({
    ...current,
    metadata: {
      ...current.metadata,
      finalizers: (current.metadata.finalizers ?? []).filter(f => f !== finalizer),
    },
  }))
