import { randomUUID } from 'node:crypto'
import { type Item, originAnnotation } from '../../framework/contract/item.ts'
import type {
  Change,
  Check,
  DeleteOptions,
  Deletion,
  WriteOptions,
} from '../../framework/contract/storage.ts'
import { sameJson } from '../../framework/json/same.ts'
import {
  type About,
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  modified,
} from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import { generatedName, pathSegmentErrors } from '../../framework/meta/names.ts'
import { type KubeObject, type ObjectKey, timestamp } from '../../framework/meta/object.ts'
import { clusterAnnotation, isCopy } from '../../kcp/annotations.ts'
import type { CachedItem } from '../cache/item.ts'
import type { ObjectStore } from '../registry/registry.ts'
import { retried } from '../registry/retried.ts'
import { withMetadata } from '../registry/strategy.ts'
import { StoreConflict } from '../store/store.ts'
import { partsOf } from './place.ts'

/** What the writes of one resource need. */
export interface CopyWrites {
  readonly store: ObjectStore
  readonly group: string
  readonly resource: string
  readonly kind: string
}

const aboutOf = ({ group, resource }: CopyWrites, { name }: ObjectKey): About => ({ group, resource, name })

/** Stores a new object. Copies of a shard keep the uid, the times and the generation of the original. */
export async function createCopy(
  writes: CopyWrites,
  key: ObjectKey,
  object: KubeObject,
  { dryRun }: WriteOptions,
): Promise<Item> {
  if (object.metadata.resourceVersion)
    throw badRequest('resourceVersion should not be set on objects to be created')
  const named = withName(writes, object)
  const at = { ...key, name: named.metadata.name ?? '' }
  const stored = inPlace(at, withSystemFields(named, key.namespace))
  if (dryRun && (await writes.store.current(at)) === undefined) return writes.store.detached(at, stored)
  try {
    if (!dryRun) return await writes.store.write(at, stored, 0)
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error
  }
  throw alreadyExists(aboutOf(writes, at))
}

/** The object with a name. Throws 422 for a name that cannot be a segment of a path. */
function withName({ group, kind }: CopyWrites, object: KubeObject): KubeObject {
  const { name: sent, generateName } = object.metadata
  const name = sent || (generateName && generatedName(generateName)) || ''
  const errors = name === '' ? ['name or generateName is required'] : pathSegmentErrors(name)
  if (errors.length > 0)
    throw invalid(
      kind,
      group,
      name,
      errors.map(error => invalidValue('metadata.name', name, error)),
    )
  return withMetadata(object, { name })
}

/** kcp's Kubernetes, `rest.FillObjectMetaSystemFields`: those of copies are set. */
function withSystemFields(object: KubeObject, namespace: string): KubeObject {
  const { uid, creationTimestamp, generation } = object.metadata
  const own = { uid: randomUUID(), creationTimestamp: timestamp(), generation: 1 }
  const kept = isCopy(object) ? defined({ uid, creationTimestamp, generation }) : {}
  return withMetadata(object, { ...own, ...kept, namespace: namespace === '' ? undefined : namespace })
}

const defined = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The object with the annotations of its place. */
function inPlace({ cluster: place }: ObjectKey, object: KubeObject): KubeObject {
  const { shard, cluster } = partsOf(place)
  const annotations = {
    ...object.metadata.annotations,
    [clusterAnnotation]: cluster,
    [originAnnotation]: shard,
  }
  return withMetadata(object, { annotations, resourceVersion: undefined })
}

/** Replaces an object. The generation is that of the client, as in kcp's `rest.BeforeUpdate` for copies. */
export const updateCopy = (
  writes: CopyWrites,
  key: ObjectKey,
  change: Change,
  { dryRun }: WriteOptions,
): Promise<Item> =>
  retried(writes.store, key, aboutOf(writes, key), async current => {
    const next = await change(current)
    checkVersions(writes, current, next.metadata)
    const old = inPlace(key, current.object)
    const object = inPlace(key, withOldFields(next, old))
    if (sameJson(object, old)) return current
    if (dryRun) return writes.store.detached(key, withVersion(object, current))
    if (!isGone(object)) return writes.store.write(key, object, current.modified)
    return writes.store.write(key, undefined, current.modified)
  })

const withVersion = (object: KubeObject, { meta: { resourceVersion } }: CachedItem): KubeObject =>
  withMetadata(object, { resourceVersion })

/** Throws 409 for another uid or resourceVersion than those of the stored object. */
function checkVersions(writes: CopyWrites, current: CachedItem, asked: KubeObject['metadata']): void {
  const about = aboutOf(writes, current.key)
  const { uid, resourceVersion } = asked
  if (uid && uid !== current.meta.uid)
    throw conflict(
      about,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.meta.uid}`,
    )
  if (resourceVersion && !writes.store.isCurrent(current, resourceVersion)) throw modified(about)
}

function withOldFields(next: KubeObject, { metadata: old }: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, namespace, name } = old
  const generation = next.metadata.generation || old.generation
  return withMetadata(next, {
    uid,
    creationTimestamp,
    generation,
    namespace,
    name,
    ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds }),
  })
}

const isGone = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean =>
  deletionTimestamp !== undefined && finalizers.length === 0

/** Removes an object, or marks it for deletion while it has finalizers. */
export const deleteCopy = (
  writes: CopyWrites,
  key: ObjectKey,
  check: Check,
  { dryRun, uid, resourceVersion }: DeleteOptions,
): Promise<Deletion> =>
  retried(writes.store, key, aboutOf(writes, key), async current => {
    await check(current)
    checkVersions(writes, current, defined({ uid, resourceVersion }))
    const old = inPlace(key, current.object)
    const { finalizers = [], deletionTimestamp } = old.metadata
    const removed = finalizers.length === 0
    if (dryRun || (!removed && deletionTimestamp !== undefined)) return { item: current, removed }
    const marked = withMetadata(old, { deletionTimestamp: timestamp(), deletionGracePeriodSeconds: 0 })
    return {
      item: await writes.store.write(key, removed ? undefined : marked, current.modified),
      removed,
    }
  })
