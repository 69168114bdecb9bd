import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { encodeObject, withResourceVersion } from '../../framework/encoding/encode.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  invalid,
  modified,
  notFound,
  StatusError,
} from '../../framework/errors.ts'
import {
  clusterAnnotation,
  encodedOf,
  fieldOf,
  type Item,
  type ItemEvent,
  initialEventsEnd,
  itemFrom,
  itemOf,
} from '../../framework/item.ts'
import type { KubeObject, Metadata, ObjectKey } from '../../framework/object.ts'
import { matchesFields, matchesLabels } from '../../framework/selectors/selectors.ts'
import type { ListQuery, ResourceStorage, Selection, WatchQuery } from '../../framework/storage.ts'

/** The kind that is stored. */
export interface StoredKind {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
}

/** The reference: a `ResourceStorage` that is a list of events and nothing else. Slow, and obviously right. */
export interface MemoryStorage extends ResourceStorage {
  /** Forgets history: older lists, tokens and watches are expired. */
  compact(): void
}

interface Change {
  readonly revision: number
  readonly event: ItemEvent
}

const apiVersion = ({ group, version }: StoredKind): string =>
  group === '' ? version : `${group}/${version}`
const idOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

export function memoryStorage(kind: StoredKind): MemoryStorage {
  const log: Change[] = []
  const bell = new EventEmitter().setMaxListeners(0)
  let compacted = 0
  const revision = (): number => log.at(-1)?.revision ?? 1
  const about = (key: ObjectKey) => ({ group: kind.group, resource: kind.resource, name: key.name })

  const at = (until: number): Map<string, Item> => {
    const items = new Map<string, Item>()
    for (const { revision, event } of log) {
      if (revision > until) break
      if (event.type === 'DELETED') items.delete(idOf(event.item.key))
      else items.set(idOf(event.item.key), event.item)
    }
    return items
  }
  const current = (key: ObjectKey): Item => {
    const item = at(revision()).get(idOf(key))
    if (item === undefined) throw notFound(about(key))
    return item
  }
  const commit = (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: Item, previous?: Item): Item => {
    const next = revision() + 1
    const stamped = itemFrom(withResourceVersion(encodedOf(item), String(next)), item.key)
    log.push({ revision: next, event: { type, item: stamped, ...(previous && { previous }) } })
    bell.emit('change')
    return stamped
  }
  const sorted = (query: Selection, until: number): Item[] =>
    [...at(until)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, item]) => item)
      .filter(item => selects(query, item))

  async function* list(_: unknown, query: ListQuery) {
    const { until, after } = start(query)
    const items = sorted(query, until).filter(item => idOf(item.key) > after)
    const page = query.limit === undefined ? items : items.slice(0, query.limit)
    const rest = items.length - page.length
    if (page.length > 0) yield page
    const last = page.at(-1)
    const resourceVersion = String(until)
    if (rest === 0 || last === undefined) return { resourceVersion }
    const token = Buffer.from(JSON.stringify({ until, after: idOf(last.key) })).toString('base64url')
    const counted = query.labels === undefined && query.fields === undefined
    return { resourceVersion, continue: token, ...(counted && { remainingItemCount: rest }) }
  }

  function start(query: ListQuery): { until: number; after: string } {
    if (query.continue !== undefined) return resume(query.continue)
    const asked = Number(query.resourceVersion ?? 0)
    if (asked > revision()) throw tooLargeVersion(asked, revision())
    if (query.match !== 'Exact') return { until: revision(), after: '' }
    if (asked < compacted) throw expired('The resourceVersion for the provided list is too old.')
    return { until: asked, after: '' }
  }

  function resume(token: string): { until: number; after: string } {
    const place = parseToken(token)
    if (place.until >= compacted) return place
    const fresh = Buffer.from(JSON.stringify({ ...place, until: revision() })).toString('base64url')
    throw expired('The provided continue parameter is too old to display a consistent list result.', fresh)
  }

  async function* watch({ signal }: { readonly signal: AbortSignal }, query: WatchQuery) {
    const asked = Number(query.resourceVersion ?? 0)
    let position = asked === 0 || query.initialEvents ? revision() : asked
    if (position < compacted) throw expired(`too old resource version: ${position} (${compacted})`)
    if (query.initialEvents) yield initial(query, position)
    while (!signal.aborted) {
      const events = log.filter(change => change.revision > position).map(change => change.event)
      position = Math.max(position, revision())
      const seen = events.flatMap(event => seenBy(query, event))
      if (seen.length > 0) yield seen
      else await nextChange(bell, signal)
    }
  }

  const initial = (query: WatchQuery, until: number): readonly ItemEvent[] => [
    ...sorted(query, until).map((item): ItemEvent => ({ type: 'ADDED', item })),
    ...(query.bookmarks ? [endOfInitialEvents(kind, until)] : []),
  ]

  return {
    compact: () => {
      compacted = revision()
    },
    get: async (_, key) => current(key),
    list,
    watch,
    async create(_, key, object, { dryRun }) {
      const item = created(kind, key, object)
      if (at(revision()).has(idOf(item.key))) throw alreadyExists(about(item.key))
      return dryRun ? item : commit('ADDED', item)
    },
    async update(_, key, change, { dryRun }) {
      for (;;) {
        const old = current(key)
        const next = updated(kind, old, await change(old))
        if (current(key) !== old) continue
        if (next === undefined) return old
        const isFreed = isRemoved(next.object)
        return dryRun ? next : commit(isFreed ? 'DELETED' : 'MODIFIED', next, old)
      }
    },
    async delete(_, key, check, { dryRun, uid, resourceVersion }) {
      const old = current(key)
      await check(old)
      const refuse = (why: string) =>
        conflict({ group: kind.group, resource: kind.kind, name: key.name }, why)
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
      if ((old.object.metadata.finalizers ?? []).length === 0) {
        return { item: dryRun ? old : commit('DELETED', old, old), removed: true }
      }
      if (old.object.metadata.deletionTimestamp !== undefined) return { item: old, removed: false }
      const marked = withMetadata(old.object, { deletionTimestamp: now(), deletionGracePeriodSeconds: 0 })
      const item = itemOf(marked, key.cluster)
      return { item: dryRun ? item : commit('MODIFIED', item, old), removed: false }
    },
  }
}

const selects = ({ cluster, namespace = '', labels, fields }: Selection, item: Item): boolean =>
  (cluster === '*' || cluster === item.key.cluster) &&
  (namespace === '' || namespace === item.key.namespace) &&
  matchesLabels(labels, item.meta.labels) &&
  matchesFields(fields, field => fieldOf(item, field))

/** Chapter 40, rule 4.53. */
function seenBy(query: Selection, event: ItemEvent): readonly ItemEvent[] {
  const { item, previous, type } = event
  const now = type !== 'DELETED' && selects(query, item)
  const before = previous !== undefined && selects(query, previous)
  if (now && before) return [event]
  if (now) return [{ type: 'ADDED', item }]
  if (!before || previous === undefined) return []
  const last = withResourceVersion(encodedOf(previous), item.meta.resourceVersion)
  return [type === 'DELETED' ? event : { type: 'DELETED', item: itemFrom(last, previous.key), previous }]
}

function parseToken(token: string): { until: number; after: string } {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: it is no token of ours')
  }
}

const tooLargeVersion = (asked: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    retryAfterSeconds: 1,
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
  })

function endOfInitialEvents(kind: StoredKind, until: number): ItemEvent {
  const metadata = { annotations: { [initialEventsEnd]: 'true' }, resourceVersion: String(until) }
  return { type: 'BOOKMARK', item: itemOf({ apiVersion: apiVersion(kind), kind: kind.kind, metadata }, '') }
}

function nextChange(bell: EventEmitter, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      bell.off('change', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    bell.on('change', done)
    signal.addEventListener('abort', done)
  })
}

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z')

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
