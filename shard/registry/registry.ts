import { type Awaitable, inTurns, Pace } from '../../framework/async/awaitable.ts'
import {
  type AdmissionAttributes,
  type KindVersions,
  optionsFor,
} from '../../framework/contract/admission.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { DeleteOptions, WriteOptions } from '../../framework/contract/storage.ts'
import { type About, forbidden, modified, StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName, KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { atVersion, type Encoded, encodeObject, hasMany } from '../../framework/wire/encode.ts'
import { canonicalObjectSteps, encodeCanonicalSteps } from '../../framework/wire/encodesteps.ts'
import { applyType } from '../../framework/wire/parsebody.ts'
import type { SteppedSchema } from '../../openapi/largeschema.ts'
import type { RegistryAdmission } from '../admission/chain.ts'
import {
  encodeStoredForm,
  encodeStoredSteps,
  type StoredResource,
  storageKey,
  storedForm,
  storedFormSteps,
} from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { CachedItem } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { isCurrent } from '../store/epoch.ts'
import { CommitTooLarge, type Store, StoreConflict } from '../store/store.ts'
import { commitChecked, conditionsOf, type ObjectWrite, type Revocable } from './conditions.ts'
import { type Part, type ResourceStrategy, withMetadata, withoutPresented } from './strategy.ts'

/** The objects of one resource: read from the cache, written to the store. */
export interface ObjectStore {
  /** The state after the last acknowledged write, in the shape of the current schema. */
  current(key: ObjectKey): Promise<CachedItem | undefined>
  /** Whether an item of `current` is stored exactly so: false when it was reshaped or has changed since. */
  isStored(item: CachedItem): boolean
  /** Whether a client's resourceVersion is one of the content of the item. */
  isCurrent(item: CachedItem, resourceVersion: string): boolean
  /**
   * Stores `object`, or removes it when undefined, if it is still at revision `expected` (0: absent). Resolves when the cache shows
   * it, with the item at its new revision; throws `StoreConflict`, `ObjectTooLarge`, and what `mayStore` throws before each attempt.
   */
  write(
    key: ObjectKey,
    object: KubeObject | undefined,
    expected: number,
    options?: Revocable<object>,
  ): Promise<CachedItem>
  /** After a conflict: waits, for a second at most, until the object is not at revision `expected` any more. */
  settled(key: ObjectKey, expected: number): Promise<void>
  /** An item that is not stored: dry runs. */
  detached(key: ObjectKey, object: KubeObject): Promise<Item>
}

/** Brings stored objects into the shape of the current definition: it may have changed since they were written. */
export interface Shape {
  /** Stored with new objects. */
  readonly number: number
  /** Whether all objects of the cache, past ones included, are in the current shape. */
  covers(cache: ResourceCache): boolean
  /** Whether the item was stored in the storage version, by its current schema. Items that were reshaped are not. */
  isOf(item: Item): boolean
  /** Whether all objects of the cache, past ones included, are so, or were stored without the number of a shape. */
  isOnly(cache: ResourceCache): boolean
  /** Defaults and prunes by the schema of the stored version; the same item when nothing changes. */
  of<T extends Item>(item: T): T | CachedItem
}

/** The rules of one definition in the version in which its objects are admitted and checked. */
export interface Rules {
  readonly strategy: ResourceStrategy
  readonly schema: SteppedSchema
  /** The definition is being deleted: creations are refused (rules.md 2.59). */
  readonly terminating: boolean
}

/** The dependencies of the writes of one endpoint. */
export interface Registry {
  readonly group: string
  readonly resource: string
  /** The version that the client uses. */
  readonly version: string
  readonly part: Part
  readonly store: ObjectStore
  readonly admission: RegistryAdmission
  readonly versions: KindVersions
  readonly rules: Rules
}

export const aboutOf = ({ group, resource }: Registry, key: ObjectKey): About => ({
  group,
  resource,
  name: key.name,
})

/** The attributes of a write to an endpoint; its `object` and `old` are added to them. */
export const attributesOf = (
  { group, resource, version, versions, part }: Registry,
  operation: AdmissionAttributes['operation'],
  key: ObjectKey,
  { dryRun, asSent }: WriteOptions | DeleteOptions,
): AdmissionAttributes => ({
  operation,
  group,
  resource,
  version,
  versions,
  subresource: operation === 'DELETE' ? '' : part,
  key,
  dryRun,
  ...optionsFor(operation, asSent),
})

/** The object as it is stored: without fields that the server only presents. */
export const storedObject = (item: Item): KubeObject => withoutPresented(item.object, item.key.cluster)

/** The object as admission sees it: with its resourceVersion. */
export const seen = (item: Item, object = storedObject(item)): KubeObject =>
  withMetadata(object, { resourceVersion: item.meta.resourceVersion })

/** Bytes: a smaller object is decoded in less time than V8's garbage collector needs for keeping it. */
const longToDecode = 4096

/** How long to wait for a concurrent write to become durable, in milliseconds. */
const longestWait = 1_000

/** The definition or the binding by which a logical cluster may have new objects of a resource. */
export interface Opener {
  /** The name of the binding; absent for a definition. */
  readonly binding?: string
}

/** What the writes of a resource depend on besides their object. */
export interface Permission {
  readonly resource: StoredResource
  /** The error of writes to a logical cluster that accepts none now. */
  readonly refusalOfWrites?: (cluster: ClusterName) => StatusError | undefined
  /** For custom and bound resources; undefined: the logical cluster may have no new objects. */
  readonly openerOf?: (cluster: ClusterName) => Opener | undefined
  /** The error of a new object that may not be there any more: its namespace was there when it was admitted. */
  readonly refusalOfCreation?: (about: About, key: ObjectKey) => StatusError | undefined
}

/** The stored resource, and the shape that its definition gives to objects. */
export interface ObjectStoreOptions extends Permission {
  readonly shape: Shape
}

/** The objects of one resource: reads use the cache; writes go to the store and return when the cache has them. */
export function openObjectStore(
  store: Store,
  watchCache: WatchCache,
  options: ObjectStoreOptions,
): ObjectStore {
  const { resource, shape } = options
  const cache = watchCache.resource(resource.group, resource.resource, resource.segment)
  const current = async (key: ObjectKey): Promise<CachedItem | undefined> => {
    const item = cache.get(key)
    return item && shape.of(item)
  }
  return {
    current,
    isStored: item => cache.get(item.key) === item,
    isCurrent: (item, resourceVersion) => isCurrent(item, resourceVersion, watchCache.revision),
    async write(key, object, expected, { mayStore } = {}) {
      const last = await current(key)
      const pace = new Pace()
      const { stored, value } = await storedValue(object, shape.number, pace)
      await pace.due()
      if (value !== undefined) checkSize(value)
      const place = { store, cache: watchCache }
      const change = { key, value, expected, ...(mayStore && { mayStore }) }
      const revision = await commitPermitted(place, options, change).catch(tooLarge)
      await watchCache.at(revision)
      const cached = cache.get(key)
      if (stored === undefined) return removed(last, revision)
      if (cached?.modified !== revision) return encodedItem(key, atVersion(stored, String(revision)))
      if (cached.length > longToDecode) cached.remember(atVersion(stored, String(revision)))
      return cached
    },
    async settled(key, expected) {
      const timeout = AbortSignal.timeout(longestWait)
      while (!timeout.aborted && (cache.get(key)?.modified ?? 0) === expected)
        await cache.reached(cache.revision + 1, timeout)
    },
    detached: encodedItem,
  }
}

/** Commits a write that is permitted until it is stored; returns its revision. Throws `StoreConflict`. */
async function commitPermitted(
  place: { readonly store: Store; readonly cache: WatchCache },
  permission: Permission,
  { key, value, expected, mayStore }: ObjectWrite,
): Promise<number> {
  const change = { key: storageKey(permission.resource, key), value, expected }
  const check = (): Opener | undefined => {
    mayStore?.()
    return checkPermitted(permission, key, expected)
  }
  if (!place.store.isShared) {
    check()
    return place.store.commit([change])
  }
  const required = () => conditionsOf(place.cache, { key, expected }, check()?.binding)
  return commitChecked(place, [change], required).catch(error => {
    const isOfCondition = error instanceof StoreConflict && error.key !== change.key
    throw isOfCondition ? modified({ ...permission.resource, name: key.name }) : error
  })
}

export const whileTerminating = 'create not allowed while custom resource definition is terminating'

/** Returns what a new custom or bound object is permitted by. */
function checkPermitted(permission: Permission, key: ObjectKey, expected: number): Opener | undefined {
  const closed = permission.refusalOfWrites?.(key.cluster)
  if (closed !== undefined) throw closed
  if (expected !== 0) return undefined
  const about = { ...permission.resource, name: key.name }
  const refusal = permission.refusalOfCreation?.(about, key)
  if (refusal !== undefined) throw refusal
  const opener = permission.openerOf?.(key.cluster)
  if (permission.openerOf && opener === undefined) throw forbidden(about, whileTerminating)
  return opener
}

/** The object as it is stored, and its bytes. */
interface StoredForm {
  readonly stored?: KubeObject
  readonly value?: Buffer
}

/** A large object is encoded between the turns of other requests. */
function storedValue(object: KubeObject | undefined, shape: number, pace: Pace): Awaitable<StoredForm> {
  if (object === undefined) return {}
  if (hasMany(object)) return inTurns(storedSteps(object, shape), pace)
  const stored = storedForm(object)
  return { stored, value: encodeStoredForm(stored, shape) }
}

function* storedSteps(object: KubeObject, shape: number): Generator<void, StoredForm> {
  const stored = yield* storedFormSteps(object)
  return { stored, value: yield* encodeStoredSteps(stored, shape) }
}

/** The object as it was, at the revision of its deletion. */
function removed(last: CachedItem | undefined, revision: number): CachedItem {
  if (last === undefined) throw new Error(`nothing was written at revision ${revision}`)
  return last.at(revision)
}

async function encodedItem(key: ObjectKey, object: KubeObject): Promise<CachedItem> {
  if (!hasMany(object)) return detached(key, encodeObject(object), object)
  const pace = new Pace()
  const canonical = await inTurns(canonicalObjectSteps(object), pace)
  return detached(key, await inTurns(encodeCanonicalSteps(canonical), pace), object)
}

function detached(key: ObjectKey, encoded: Encoded, { metadata }: KubeObject): CachedItem {
  const revision = Number(metadata.resourceVersion ?? 0)
  return new CachedItem(key, encoded, { revision, modified: revision, labels: metadata.labels ?? {} })
}

/** The limit for a stored object in bytes, that of etcd for one request. */
const largest = 1.5 * 1024 * 1024

/** An object is too large to be stored: 500 with the text of etcd. */
class ObjectTooLarge extends StatusError {
  constructor() {
    super(500, '', 'etcdserver: request is too large')
  }
}

function tooLarge(error: unknown): never {
  throw error instanceof CommitTooLarge ? new ObjectTooLarge() : error
}

function checkSize(stored: Buffer): void {
  if (stored.length > largest) throw new ObjectTooLarge()
}

/**
 * Writes an object, without its managedFields when it is too large with them, except for applies (rules.md 5.60).
 */
export async function writeWithin(
  object: KubeObject,
  { patch }: WriteOptions,
  write: (object: KubeObject) => Promise<Item>,
): Promise<Item> {
  try {
    return await write(object)
  } catch (error) {
    const { managedFields, ...metadata } = object.metadata
    if (!(error instanceof ObjectTooLarge) || patch?.type === applyType || managedFields === undefined)
      throw error
    return write({ ...object, metadata })
  }
}
