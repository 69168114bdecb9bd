import type { Readers } from '../../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import { sameJson } from '../../../framework/json/same.ts'
import type { KubeObject, OwnerReference } from '../../../framework/meta/object.ts'
import type { WatchCache } from '../../cache/contract.ts'
import {
  type ApisOf,
  type ObjectPlace,
  type OwnerState,
  ownerStateOf,
  parsePlace,
  type Read,
  servedAt,
} from './ownerreferences.ts'

/** The dependencies of look-ups. */
export interface Lookup {
  readonly cache: WatchCache
  readonly apis: ApisOf
  readonly read: Read
  /** Of all look-ups of a collector: they work a few milliseconds in a turn of the event loop, however many wait. */
  readonly readers: Readers
}

/** An object, and the resource that serves it. */
export interface CollectedObject {
  readonly place: ObjectPlace
  readonly ref: ResourceRef
  readonly object: KubeObject
}

const currentAt = ({ cache }: Lookup, place: ObjectPlace): KubeObject | undefined =>
  cache.resource(place.group, place.resource, place.segment).get(place)?.object

export const referencesOf = ({ metadata }: KubeObject): readonly OwnerReference[] =>
  metadata.ownerReferences ?? []

/**
 * The object; undefined when it was deleted, or when a binding now serves other objects under the same resource:
 * hidden objects are not changed.
 */
export async function targetAt(lookup: Lookup, place: ObjectPlace): Promise<CollectedObject | undefined> {
  await lookup.readers.enter()
  const object = currentAt(lookup, place)
  const served = object && servedAt(lookup.apis, place)
  if (object === undefined || served === undefined) return undefined
  const shown = await lookup.read(served.resource, place)
  return shown?.metadata.uid === object.metadata.uid ? { place, ref: served.ref, object } : undefined
}

/**
 * The objects with the keys that `list` returns. It is called again until it returns no new keys: objects that appear
 * meanwhile are not missed.
 */
export async function* targetsOf(
  lookup: Lookup,
  list: () => readonly string[],
): AsyncGenerator<CollectedObject> {
  const seen = new Set<string>()
  const unseen = (): readonly string[] => list().filter(key => !seen.has(key))
  for (let keys = unseen(); keys.length > 0; keys = unseen()) {
    for (const key of keys) seen.add(key)
    for await (const target of eachOf(keys, key => targetAt(lookup, parsePlace(key))))
      if (target !== undefined) yield target
  }
}

/** The states of the owners of an object, in their order. */
export async function ownerStatesOf(
  lookup: Lookup,
  { place, object }: CollectedObject,
): Promise<readonly OwnerState[]> {
  const owners = referencesOf(object)
  const states: OwnerState[] = []
  const stateOf = async (owner: OwnerReference): Promise<OwnerState> => {
    await lookup.readers.enter()
    return ownerStateOf(lookup, place, owner)
  }
  for await (const state of eachOf(owners, stateOf)) states.push(state)
  return states
}

/** Whether the object was deleted or got other owners since it was read. */
export function hasOtherOwners(lookup: Lookup, { place, object }: CollectedObject): boolean {
  const current = currentAt(lookup, place)
  return current === undefined || !sameJson(referencesOf(current), referencesOf(object))
}

/** Look-ups of one worker that wait for each other: some take a request to a webhook. */
const together = 16

/** The results of `work`, in the order of the items. */
async function* eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): AsyncGenerator<R> {
  for (let at = 0; at < items.length; at += together)
    yield* await Promise.all(items.slice(at, at + together).map(work))
}
