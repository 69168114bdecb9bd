import {
  type AdmissionAttributes,
  type KindVersions,
  optionsFor,
} from '../../framework/contract/admission.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ObjectSchema } from '../../framework/contract/schema.ts'
import type { DeleteOptions, WriteOptions } from '../../framework/contract/storage.ts'
import type { About } from '../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import type { RegistryAdmission } from '../admission/chain.ts'
import type { CachedItem } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { type Part, type ResourceStrategy, withMetadata, withoutPresented } from './strategy.ts'

/** The objects of one resource: read from the cache, written to the store. */
export interface ObjectStore {
  /** The state after the last acknowledged write, in the shape of the current schema. */
  current(key: ObjectKey): Promise<CachedItem | undefined>
  /** Whether an item of `current` is stored exactly so: false when it was reshaped or has changed since. */
  isStored(item: CachedItem): boolean
  /**
   * Stores `object`, or removes it when undefined, if it is still at revision `expected` (0: absent). Resolves when the
   * cache shows it, with the item at its new revision; throws `StoreConflict`, and `ObjectTooLarge`.
   */
  write(key: ObjectKey, object: KubeObject | undefined, expected: number): Promise<CachedItem>
  /** After a conflict: waits, for a second at most, until the object is not at revision `expected` any more. */
  settled(key: ObjectKey, expected: number): Promise<void>
  /** An item that is not stored: dry runs. */
  detached(key: ObjectKey, object: KubeObject): Item
}

/** Brings stored objects into the shape of the current definition: it may have changed since they were written. */
export interface Shape {
  /** Stored with new objects. */
  readonly number: number
  /** Whether all objects of the cache, past ones included, are in the current shape. */
  covers(cache: ResourceCache): boolean
  /** Defaults and prunes by the schema of the stored version; the same item when nothing changes. */
  of<T extends Item>(item: T): T | CachedItem
}

/** The rules of one definition in the version in which its objects are admitted and checked. */
export interface Rules {
  readonly strategy: ResourceStrategy
  readonly schema: ObjectSchema
  /** The definition is being deleted: creations are refused (rules.md 2.59). */
  readonly terminating: boolean
}

/** What the writes of one endpoint need. */
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
