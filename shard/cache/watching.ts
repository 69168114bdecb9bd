import { follow, initialEvents, type TimedQuery, timing } from '../../framework/cache/following.ts'
import type { Snapshot } from '../../framework/cache/pages.ts'
import { RingReader, tooOld } from '../../framework/cache/reader.ts'
import { isFiltered, rangeOf, type ServedKind } from '../../framework/cache/selection.ts'
import type { ItemWatch, WatchQuery } from '../../framework/contract/storage.ts'
import { expired } from '../../framework/meta/errors.ts'
import { readResourceVersion } from '../../framework/query/options.ts'
import { bookmark } from '../../framework/responses/bookmark.ts'
import { type ListSource, newestOf, waitFor } from './listing.ts'

/** The start of a watch: an initial state or none, then the events after a position in the ring. */
interface Start {
  readonly initial: Snapshot | undefined
  readonly revision: number
  readonly position: number
}

const now = (source: ListSource, initial: Snapshot | undefined): Start => ({
  initial,
  revision: source.revision,
  position: source.ring.firstFrom(source.revision + 1),
})

/**
 * The start of a watch by its resourceVersion and sendInitialEvents (rules.md 4.39). Throws 410 for a revision that the
 * store never had: the client has it from changes that a restore of a backup took back (rules.md 4.42).
 */
async function startOf(source: ListSource, query: WatchQuery, signal: AbortSignal): Promise<Start> {
  const asked = readResourceVersion(query.resourceVersion) ?? 0
  if (query.initialEvents) {
    await waitFor(source, asked, signal)
    source.checkIntact(rangeOf(query), isFiltered(query))
    return now(source, newestOf(source))
  }
  if (asked === 0) return now(source, undefined)
  if (asked > source.newest) throw expired(`too new resource version: ${asked} (${source.newest})`)
  await source.reached(asked, signal)
  if (!source.ring.reaches(asked)) throw expired(tooOld(asked, source.ring))
  return { initial: undefined, revision: asked, position: source.ring.positionAfter(asked) }
}

/** A watch from memory. Throws 410 when the ring does not have the reader's position any more. */
export async function* watch(
  source: ListSource,
  kind: ServedKind,
  signal: AbortSignal,
  query: TimedQuery,
): ItemWatch {
  const start = await startOf(source, query, signal)
  const reader = new RingReader(source.ring, start, query, kind)
  const times = timing(source, kind, query)
  try {
    if (start.initial !== undefined) {
      yield* initialEvents(start.initial, query, kind, times.readers)
      if (query.bookmarks) yield [bookmark(kind, start.revision, true)]
    }
    yield* follow(source, reader, signal, times)
  } finally {
    reader.leave()
  }
}
