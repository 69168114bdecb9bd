import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { clusterAnnotation, type Item, itemFrom, itemOf } from '../../../framework/contract/item.ts'
import type { DeleteOptions, ResourceStorage } from '../../../framework/contract/storage.ts'
import { alreadyExists, badRequest, conflict, invalid, modified } from '../../../framework/meta/errors.ts'
import type { KubeObject, Metadata, ObjectKey } from '../../../framework/meta/object.ts'
import { encodeObject } from '../../../framework/wire/encode.ts'
import {
  aboutKey,
  commit,
  current,
  type History,
  idOf,
  itemsAt,
  revisionOf,
  type StoredKind,
} from './history.ts'
import { list, watch } from './reads.ts'

/** The reference implementation: a `ResourceStorage` over a list of events. Slow and simple. */
export interface MemoryStorage extends ResourceStorage {
  /** Compacts history: older lists, tokens and watches expire. */
  compact(): void
}

export function memoryStorage(kind: StoredKind): MemoryStorage {
  const history: History = { kind, log: [], bell: new EventEmitter().setMaxListeners(0), compacted: 0 }
  return {
    compact: () => {
      history.compacted = revisionOf(history)
    },
    get: async (_, key) => current(history, key),
    list: (_, query) => list(history, query),
    watch: ({ signal }, query) => watch(history, query, signal),
    async create(_, key, object, { dryRun }) {
      const item = created(kind, key, object)
      if (itemsAt(history, revisionOf(history)).has(idOf(item.key)))
        throw alreadyExists(aboutKey(kind, item.key))
      return dryRun ? item : commit(history, 'ADDED', item)
    },
    async update(_, key, change, { dryRun }) {
      for (;;) {
        const old = current(history, key)
        const next = updated(kind, old, await change(old))
        if (current(history, key) !== old) continue
        if (next === undefined) return old
        const isFreed = isRemoved(next.object)
        return dryRun ? next : commit(history, isFreed ? 'DELETED' : 'MODIFIED', next, old)
      }
    },
    async delete(_, key, check, options) {
      const old = current(history, key)
      await check(old)
      demand(kind, old, options)
      return remove(history, old, options.dryRun)
    },
  }
}

/** The preconditions of a deletion. */
function demand({ group, kind }: StoredKind, old: Item, { uid, resourceVersion }: DeleteOptions): void {
  const refuse = (why: string) => conflict({ group, resource: kind, name: old.key.name }, why)
  if (uid !== undefined && uid !== old.meta.uid) {
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${old.meta.uid}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== old.meta.resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${old.meta.resourceVersion}). The object might have been modified`,
    )
  }
}

function remove(history: History, old: Item, dryRun: boolean): { item: Item; removed: boolean } {
  const { finalizers = [], deletionTimestamp } = old.object.metadata
  if (finalizers.length === 0)
    return { item: dryRun ? old : commit(history, 'DELETED', old, old), removed: true }
  if (deletionTimestamp !== undefined) return { item: old, removed: false }
  const marked = withMetadata(old.object, { deletionTimestamp: now(), deletionGracePeriodSeconds: 0 })
  const item = itemOf(marked, old.key.cluster)
  return { item: dryRun ? item : commit(history, 'MODIFIED', item, old), removed: false }
}

export const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z')

const withMetadata = (object: KubeObject, change: Metadata): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...change },
})

const inCluster = (object: KubeObject, cluster: string): KubeObject =>
  withMetadata(object, { annotations: { ...object.metadata.annotations, [clusterAnnotation]: cluster } })

function created(kind: StoredKind, key: ObjectKey, object: KubeObject): Item {
  const { generateName = '', resourceVersion = '' } = object.metadata
  if (resourceVersion !== '') throw badRequest('resourceVersion should not be set on objects to be created')
  if (key.name === '' && generateName === '') {
    const detail = 'name or generateName is required'
    throw invalid(kind.kind, kind.group, '', [{ type: 'FieldValueRequired', field: 'metadata.name', detail }])
  }
  const name = key.name === '' ? `${generateName}${randomUUID().slice(0, 5)}` : key.name
  const stamp = { name, uid: randomUUID(), creationTimestamp: now() }
  return itemOf(inCluster(withMetadata(object, stamp), key.cluster), key.cluster)
}

/** undefined: nothing changes. */
function updated(kind: StoredKind, old: Item, next: KubeObject): Item | undefined {
  const { metadata } = old.object
  const about = { group: kind.group, resource: kind.resource, name: old.key.name }
  const { resourceVersion = metadata.resourceVersion ?? '', uid = metadata.uid } = next.metadata
  if (resourceVersion !== metadata.resourceVersion) throw modified(about)
  if (uid !== metadata.uid) {
    throw conflict(
      about,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    )
  }
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = metadata
  const kept = { resourceVersion, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }
  const object = inCluster(withMetadata(next, kept as Metadata), old.key.cluster)
  const encoded = encodeObject(object)
  return encoded.bytes.equals(encodeObject(old.object).bytes) ? undefined : itemFrom(encoded, old.key)
}

const isRemoved = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0
