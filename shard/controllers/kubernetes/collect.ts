import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject, OwnerReference } from '../../../framework/meta/object.ts'
import type { WatchCache } from '../../cache/watchcache.ts'
import { type ControllerClient, ifFound, updateObject } from '../client.ts'
import {
  type ApisOf,
  foreground,
  isTerminatingWith,
  orphan,
  type Read,
  type Standing,
  servedAt,
  standingOf,
} from './owners.ts'
import { type ObjectPlace, type Ownership, parsePlace } from './ownership.ts'

/** What one step of collecting needs. */
export interface Collection {
  readonly cache: WatchCache
  readonly client: ControllerClient
  readonly apis: ApisOf
  readonly read: Read
  readonly ownership: Ownership
}

/** Milliseconds until an owner whose kind is not served (yet) is looked for again. */
const unknownAgain = 30_000

interface Target {
  readonly place: ObjectPlace
  readonly ref: ResourceRef
  readonly object: KubeObject
}

/** Does what the state of one object asks of the collector. Returns when to look again, if no change will tell. */
export async function collect(of: Collection, place: ObjectPlace): Promise<number | undefined> {
  const target = await targetAt(of, place)
  if (target === undefined) return undefined
  const { object } = target
  if (isTerminatingWith(object, orphan)) await releaseDependents(of, target)
  else if (isTerminatingWith(object, foreground)) await deleteDependents(of, target)
  else if (object.metadata.deletionTimestamp === undefined) return deleteUnowned(of, target)
  return undefined
}

/** The object at a place; undefined when it is gone, or when its cluster serves others under the same name: what a
 * binding shadows is left alone. */
async function targetAt({ cache, apis, read }: Collection, place: ObjectPlace): Promise<Target | undefined> {
  const object = cache.resource(place.group, place.resource, place.segment).get(place)?.object
  const served = object && servedAt(apis, place)
  if (object === undefined || served === undefined) return undefined
  const shown = await read(served.resource, place)
  return shown?.metadata.uid === object.metadata.uid ? { place, ref: served.ref, object } : undefined
}

async function dependentsOf(of: Collection, { place, object }: Target): Promise<readonly Target[]> {
  const keys = of.ownership.dependentsOf(place.cluster, object.metadata.uid ?? '')
  const targets = await Promise.all(keys.map(key => targetAt(of, parsePlace(key))))
  return targets.filter(target => target !== undefined)
}

const ownersOf = ({ object }: Target): readonly OwnerReference[] => object.metadata.ownerReferences ?? []

/** `orphan`: the dependents forget the owner, then it goes. */
async function releaseDependents(of: Collection, target: Target): Promise<void> {
  const uid = target.object.metadata.uid ?? ''
  for (const dependent of await dependentsOf(of, target)) await dropOwners(of, dependent, new Set([uid]))
  await dropFinalizer(of, target, orphan)
}

/** `foregroundDeletion`: the dependents are deleted; the owner goes when those that block it are gone. */
async function deleteDependents(of: Collection, target: Target): Promise<void> {
  for (const dependent of await dependentsOf(of, target)) {
    if (dependent.object.metadata.deletionTimestamp === undefined) await deleteUnowned(of, dependent)
  }
  const uid = target.object.metadata.uid
  const blocks = ({ uid: owner, blockOwnerDeletion }: OwnerReference): boolean =>
    owner === uid && blockOwnerDeletion === true
  const left = await dependentsOf(of, target)
  if (!left.some(dependent => ownersOf(dependent).some(blocks))) await dropFinalizer(of, target, foreground)
}

/** Deletes an object whose owners are all gone or going; one that has another owner only forgets those. */
async function deleteUnowned(of: Collection, target: Target): Promise<number | undefined> {
  const owners = ownersOf(target)
  if (owners.length === 0) return undefined
  const standings = await Promise.all(owners.map(owner => standingOf(of, target.place, owner)))
  const lost = owners.filter((_, i) => standings[i] === 'absent' || standings[i] === 'waiting')
  if (standings.includes('solid')) await dropOwners(of, target, new Set(lost.map(owner => owner.uid)))
  else if (standings.includes('unknown')) return unknownAgain
  else await deleteTarget(of, target, standings)
  return undefined
}

async function deleteTarget(of: Collection, target: Target, standings: readonly Standing[]): Promise<void> {
  const { place, ref, object } = target
  const dependents = standings.includes('waiting') ? await dependentsOf(of, target) : []
  if (dependents.some(dependent => isTerminatingWith(dependent.object, foreground))) await unblock(of, target)
  const { uid = '', finalizers = [] } = object.metadata
  const kept = finalizers.includes(orphan) ? 'Orphan' : 'Background'
  const propagation = dependents.length > 0 || finalizers.includes(foreground) ? 'Foreground' : kept
  await ifFound(of.client.delete(ref, place, { propagation, uid }))
}

/** In a circle of owners everybody would wait for everybody. */
const unblock = (of: Collection, target: Target): Promise<unknown> =>
  changeOwners(of, target, owners => owners.map(owner => ({ ...owner, blockOwnerDeletion: false })))

const dropOwners = async (of: Collection, target: Target, uids: ReadonlySet<string>): Promise<void> => {
  if (uids.size > 0) await changeOwners(of, target, owners => owners.filter(owner => !uids.has(owner.uid)))
}

function changeOwners(
  { client }: Collection,
  { ref, place }: Target,
  change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
): Promise<unknown> {
  return updateObject(client, ref, place, current => {
    const { ownerReferences, ...metadata } = current.metadata
    const next = change(ownerReferences ?? [])
    return { ...current, metadata: next.length === 0 ? metadata : { ...metadata, ownerReferences: next } }
  })
}

const dropFinalizer = ({ client }: Collection, { ref, place }: Target, finalizer: string): Promise<unknown> =>
  updateObject(client, ref, place, current => ({
    ...current,
    metadata: {
      ...current.metadata,
      finalizers: (current.metadata.finalizers ?? []).filter(f => f !== finalizer),
    },
  }))
