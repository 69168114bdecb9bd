import { Pace } from '../../framework/async/awaitable.ts'
import type { WatchSource } from '../../framework/cache/following.ts'
import type { CacheItem } from '../../framework/cache/page.ts'
import type { IdRange, Snapshot } from '../../framework/cache/pages.ts'
import {
  behind,
  isFiltered,
  matcherOf,
  rangeOf,
  type ServedKind,
  take,
} from '../../framework/cache/selection.ts'
import type { ItemList, ListMeta, ListQuery } from '../../framework/contract/storage.ts'
import { badRequest, expired, type StatusError } from '../../framework/meta/errors.ts'
import { readResourceVersion } from '../../framework/query/options.ts'
import type { StoredResource } from './codec.ts'
import { type Continuation, decodeContinuation, encodeContinuation, versionTooLarge } from './continuation.ts'

/** The state that a list reads, and the id after which it begins. */
interface Start {
  readonly snapshot: Snapshot
  readonly revision: number
  readonly after?: string
  /** 0: from the beginning. */
  readonly limit: number
}

/** Waits for a version that the cache has not reached; throws 504 after the timeout (rules.md 4.8). */
export async function waitFor(source: ListSource, revision: number, signal: AbortSignal): Promise<void> {
  await source.reached(revision, signal, source.waitTimeout)
  if (revision > source.revision) throw versionTooLarge(revision, source.revision)
}

const current = (source: ListSource, limit: number): Start => ({
  snapshot: newestOf(source),
  revision: source.revision,
  limit,
})

/** The state at the revision of the source; a later one if the ring does not have it any more. */
export const newestOf = (source: ListSource): Snapshot =>
  source.snapshotAt(source.revision) ?? source.snapshot()

/** The state to read (rules.md 4.7, 4.10). */
async function startOf(source: ListSource, query: ListQuery, signal: AbortSignal): Promise<Start> {
  const limit = Math.max(0, query.limit ?? 0)
  if (query.continue) return continued(source, query, limit)
  if (!query.resourceVersion) return current(source, limit)
  const asked = readResourceVersion(query.resourceVersion) ?? 0
  if (asked === 0) return current(source, 0)
  await waitFor(source, asked, signal)
  const exact = query.match === 'Exact' || (query.match === undefined && limit > 0)
  if (!exact) return current(source, limit)
  const snapshot = source.snapshotAt(asked)
  if (snapshot === undefined) throw expired('The resourceVersion for the provided list is too old.')
  return { snapshot, revision: asked, limit }
}

function continued(source: ListSource, query: ListQuery, limit: number): Start {
  const { revision, after } = decodeContinuation(query.continue ?? '', source.resource, query)
  if (query.resourceVersion !== undefined && query.resourceVersion !== '' && query.resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  if (revision === -1) return { ...current(source, limit), after }
  const snapshot = revision <= source.revision ? source.snapshotAt(revision) : undefined
  if (snapshot === undefined) throw tooOldToContinue(source, query, after)
  return { snapshot, revision, after, limit }
}

const tooOldToContinue = (source: ListSource, query: ListQuery, after: string): StatusError =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of ' +
      'the results. Continuing with the provided token results in an inconsistent list - objects that were ' +
      'created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    encodeContinuation({ revision: -1, after }, source.resource, query),
  )

/** A list from memory. */
export async function* list(
  source: ListSource,
  kind: ServedKind,
  signal: AbortSignal,
  query: ListQuery,
): ItemList {
  const matches = matcherOf(query, kind)
  const start = await startOf(source, query, signal)
  const whole = rangeOf(query)
  source.checkIntact(whole, isFiltered(query))
  const range = start.after === undefined ? whole : behind(whole, start.after)
  let missing = start.limit === 0 ? Number.POSITIVE_INFINITY : start.limit
  let last: CacheItem | undefined
  // Pages without a filter are neither read nor copied here.
  const pace = matches === undefined ? undefined : new Pace()
  for (const run of start.snapshot.runs(range)) {
    const wait = pace?.due()
    if (wait !== undefined) await wait
    signal.throwIfAborted()
    const taken = take(run, missing, matches)
    missing -= taken.batch.length
    last = taken.last
    if (taken.batch.length > 0) yield taken.batch
    if (missing === 0) break
  }
  return metaOf(source, query, start, missing === 0 ? last : undefined)
}

/** The list's metadata; `last` is the last item that was read when the limit ended the page. */
function metaOf(source: ListSource, query: ListQuery, start: Start, last: CacheItem | undefined): ListMeta {
  const resourceVersion = String(start.revision)
  const remaining = last === undefined ? 0 : start.snapshot.count(behind(rangeOf(query), last.id))
  if (last === undefined || remaining === 0) return { resourceVersion }
  source.keep(start.revision, start.snapshot)
  const next: Continuation = { revision: start.revision, after: last.id }
  return {
    resourceVersion,
    continue: encodeContinuation(next, source.resource, query),
    ...(isFiltered(query) ? {} : { remainingItemCount: remaining }),
  }
}

/** One resource of the watch cache, as lists and watches read it. */
export interface ListSource extends WatchSource {
  readonly resource: StoredResource
  /** The newest revision of the store, which the cache may not have reached yet. */
  readonly newest: number
  /** Throws 500 when an object in this range is damaged; `isFiltered`: it may be one that the reader may not see. */
  checkIntact(range: IdRange, isFiltered: boolean): void
  /** How long a reader waits for a version that the cache has not reached, in milliseconds. */
  readonly waitTimeout: number
  snapshot(): Snapshot
  /** The state at an earlier revision; undefined when the ring does not have it any more. */
  snapshotAt(revision: number): Snapshot | undefined
  /** Keeps a snapshot for the next page of a list. */
  keep(revision: number, snapshot: Snapshot): void
  /** Resolves when the cache has reached `revision`, when `signal` is aborted, or after `milliseconds` if given. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void>
}
