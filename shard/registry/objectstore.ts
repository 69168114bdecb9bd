import type { Item } from '../../framework/contract/item.ts'
import type { WriteOptions } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { atVersion, type Encoded, encodeObject } from '../../framework/wire/encode.ts'
import { applyType } from '../../framework/wire/parsebody.ts'
import { encodeStoredForm, type StoredResource, storageKey, storedForm } from '../cache/codec.ts'
import { CachedItem } from '../cache/item.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import type { Store } from '../store/store.ts'
import type { ObjectStore, Shape } from './registry.ts'

/** How long to wait for a concurrent write to become durable, in milliseconds. */
const longestWait = 1_000

/** The stored resource, and the shape that its definition gives to objects. */
export interface ObjectStoreOptions {
  readonly resource: StoredResource
  readonly shape: Shape
}

/**
 * The objects of one resource: reads come from the cache, writes go to the store and return when the cache has them.
 */
export function openObjectStore(
  store: Store,
  watchCache: WatchCache,
  { resource, shape }: ObjectStoreOptions,
): ObjectStore {
  const cache = watchCache.resource(resource.group, resource.resource, resource.segment)
  const current = async (key: ObjectKey): Promise<CachedItem | undefined> => {
    const item = cache.get(key)
    return item && shape.of(item)
  }
  return {
    current,
    isStored: item => cache.get(item.key) === item,
    async write(key, object, expected) {
      const last = await current(key)
      const stored = object && storedForm(object)
      const value = stored && encodeStoredForm(stored, shape.number)
      if (value !== undefined) checkSize(value)
      const revision = await store.commit([{ key: storageKey(resource, key), value, expected }])
      await watchCache.at(revision)
      const cached = cache.get(key)
      if (cached?.modified !== revision) return overtaken(stored ?? last?.object, key, revision)
      if (stored !== undefined) cached.remember(atVersion(stored, String(revision)))
      return cached
    },
    async settled(key, expected) {
      const patience = AbortSignal.timeout(longestWait)
      while (!patience.aborted && (cache.get(key)?.modified ?? 0) === expected)
        await cache.reached(cache.revision + 1, patience)
    },
    detached: (key, object) => detached(key, encodeObject(object), object),
  }
}

/** The written object, where the cache has a later write of it or none. */
function overtaken(object: KubeObject | undefined, key: ObjectKey, revision: number): CachedItem {
  if (object === undefined) throw new Error(`nothing was written at revision ${revision}`)
  const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
  return detached(key, encodeObject(versioned), versioned)
}

function detached(key: ObjectKey, encoded: Encoded, { metadata }: KubeObject): CachedItem {
  const revision = Number(metadata.resourceVersion ?? 0)
  return new CachedItem(key, encoded, { revision, modified: revision, labels: metadata.labels ?? {} })
}

/** The limit for a stored object in bytes, that of etcd for one request. */
const largest = 1.5 * 1024 * 1024

/** An object is too large to be stored: 500 with the text of etcd. */
export class ObjectTooLarge extends StatusError {
  constructor() {
    super(500, '', 'etcdserver: request is too large')
  }
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

/** The conversion between one version and the stored one. */
export interface StoreVersion {
  /** The item in the version; the same item when it is in it already. */
  present(item: CachedItem): Promise<Item>
  /** An object of the version as it is stored. */
  stored(object: KubeObject): Promise<KubeObject>
  isStored(object: KubeObject): boolean
}

/** An object store that is read and written in one version and stores another. */
export function versionedObjectStore(store: ObjectStore, version: StoreVersion): ObjectStore {
  const originals = new WeakMap<CachedItem, CachedItem>()
  const shown = async (item: CachedItem): Promise<CachedItem> => {
    const presented = await version.present(item)
    if (presented === item || !(presented instanceof CachedItem)) return item
    originals.set(presented, item)
    return presented
  }
  return {
    async current(key) {
      const item = await store.current(key)
      return item && shown(item)
    },
    isStored(item) {
      const original = originals.get(item) ?? item
      return version.isStored(original.object) && store.isStored(original)
    },
    async write(key, object, expected) {
      const item = await store.write(key, object && (await version.stored(object)), expected)
      return shown(item)
    },
    settled: store.settled,
    detached: store.detached,
  }
}
