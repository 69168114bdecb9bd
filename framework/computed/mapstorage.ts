import { follow, initialEvents, timing } from '../cache/following.ts'
import type { CacheItem } from '../cache/page.ts'
import type { Snapshot } from '../cache/pages.ts'
import { RingReader, tooOld } from '../cache/reader.ts'
import { behind, isFiltered, matcherOf, rangeOf, take } from '../cache/selection.ts'
import type { Item } from '../contract/item.ts'
import type { ItemList, ItemWatch, ListQuery, ResourceStorage, WatchQuery } from '../contract/storage.ts'
import { readOnly } from '../lens/view.ts'
import { invalidContinueToken } from '../meta/continuetoken.ts'
import { expired, notFound } from '../meta/errors.ts'
import type { ObjectKey } from '../meta/object.ts'
import { readResourceVersion } from '../query/options.ts'
import { bookmark } from '../responses/bookmark.ts'
import type { MapItem, MapSource } from './mapsource.ts'
import { type ObjectMap, sourceOf } from './objectmap.ts'

/**
 * A read-only storage of the objects of a map: lists with pages and selectors, and watches from any resourceVersion of this
 * process. A change of the map is one event of all watches.
 */
export function storageOf(map: ObjectMap): ResourceStorage {
  const source = sourceOf(map)
  return readOnly(source.about, {
    get: (_, key) => found(source, key),
    list: (_, query) => list(source, query),
    watch: ({ signal }, query) => watch(source, query, signal),
  })
}

function found(source: MapSource, key: ObjectKey): Item {
  const item = source.find(key)
  if (item === undefined) throw notFound({ ...source.about, name: key.name })
  return item
}

/** The state that a list reads, and the ID after which it begins. */
interface Start {
  readonly snapshot: Snapshot<MapItem>
  readonly revision: number
  readonly after?: string
}

async function* list(source: MapSource, query: ListQuery): ItemList {
  const matches = matcherOf(query, source.kind)
  const start = startOf(source, query)
  const whole = rangeOf(query)
  const range = start.after === undefined ? whole : behind(whole, start.after)
  let missing = query.limit ? query.limit : Number.POSITIVE_INFINITY
  let last: CacheItem | undefined
  for (const run of start.snapshot.runs(range)) {
    const taken = take(run, missing, matches)
    missing -= taken.batch.length
    last = taken.last
    if (taken.batch.length > 0) yield taken.batch
    if (missing === 0) break
  }
  const resourceVersion = String(start.revision)
  const remaining = missing > 0 || last === undefined ? 0 : start.snapshot.count(behind(whole, last.id))
  if (last === undefined || remaining === 0) return { resourceVersion }
  source.keep(start.revision, start.snapshot)
  const token = tokenOf({ revision: start.revision, after: last.id })
  return { resourceVersion, continue: token, ...(!isFiltered(query) && { remainingItemCount: remaining }) }
}

function startOf(source: MapSource, query: ListQuery): Start {
  if (query.continue) return continued(source, query.continue)
  const asked = readResourceVersion(query.resourceVersion) ?? 0
  if (asked > source.revision) throw expired(tooNew(asked, source))
  const isExact = query.match === 'Exact' && asked !== 0
  const snapshot = isExact ? source.kept(asked) : source.snapshot()
  if (snapshot === undefined) throw expired('The resourceVersion for the provided list is too old.')
  return { snapshot, revision: isExact ? asked : source.revision }
}

function continued(source: MapSource, token: string): Start {
  const { revision, after } = positionOf(token)
  const snapshot = source.kept(revision)
  if (snapshot === undefined)
    throw expired('The provided continue parameter is too old to display a consistent list result.')
  return { snapshot, revision, after }
}

/** The position of the next page of a list. */
interface Position {
  readonly revision: number
  readonly after: string
}

const tokenOf = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url')

function positionOf(token: string): Position {
  try {
    const { revision, after } = JSON.parse(Buffer.from(token, 'base64url').toString()) as Position
    if (Number.isSafeInteger(revision) && typeof after === 'string') return { revision, after }
  } catch {}
  throw invalidContinueToken('it cannot be decoded')
}

const tooNew = (asked: number, { revision }: MapSource): string =>
  `too new resource version: ${asked} (${revision})`

async function* watch(source: MapSource, query: WatchQuery, signal: AbortSignal): ItemWatch {
  const asked = readResourceVersion(query.resourceVersion) ?? 0
  if (asked > source.revision) throw expired(tooNew(asked, source))
  const isNow = query.initialEvents || asked === 0
  if (!isNow && !source.ring.reaches(asked)) throw expired(tooOld(asked, source.ring))
  const revision = isNow ? source.revision : asked
  const position = isNow ? source.ring.line.end : source.ring.positionAfter(asked)
  const initial = query.initialEvents ? source.snapshot() : undefined
  const reader = new RingReader(source.ring, { position, revision }, query, source.kind)
  const times = timing(source, source.kind, query)
  try {
    if (initial !== undefined) {
      yield* initialEvents(initial, query, source.kind, times.readers)
      if (query.bookmarks) yield [bookmark(source.kind, revision, true)]
    }
    yield* follow(source, reader, signal, times)
  } finally {
    reader.leave()
  }
}
