import type { Readers } from '../async/awaitable.ts'
import type { ItemEvent } from '../contract/item.ts'
import type { WatchQuery } from '../contract/storage.ts'
import { bookmark } from '../responses/bookmark.ts'
import type { Snapshot } from './pages.ts'
import type { RingReader } from './reader.ts'
import type { Line, Ring } from './ring.ts'
import { matcherOf, rangeOf, type ServedKind, take } from './selection.ts'

const never = Number.POSITIVE_INFINITY
const beforeDeadline = 2_000

/** Waits for events, the time of a bookmark, or the end of the watch. */
class Watcher implements Sleeper {
  due = never
  #resume: (() => void) | undefined

  readonly wake = (): void => {
    this.#resume?.()
    this.#resume = undefined
  }

  sleep(line: Line): Promise<void> {
    return new Promise(resolve => {
      this.#resume = resolve
      line.wait(this.wake)
    })
  }
}

/** The time of the next bookmark: after the interval, and for the last time at `final`. */
function nextBookmark(interval: number, final: number): number {
  const time = performance.now()
  return time >= final ? never : Math.min(time + interval, final)
}

/** The time of the last bookmark, shortly before the deadline (rules.md 4.54). */
const lastBookmark = (deadline = never): number => performance.now() + deadline - Date.now() - beforeDeadline

/** A page of objects is as much work as a few events are for so many watches. */
const weightOfPage = 8

/** The existing objects as ADDED events, in the turns of the readers. */
export async function* initialEvents(
  snapshot: Snapshot,
  query: WatchQuery,
  kind: ServedKind,
  readers: Readers,
): AsyncGenerator<ItemEvent[]> {
  const matches = matcherOf(query, kind)
  for (const run of snapshot.runs(rangeOf(query))) {
    await readers.enter(weightOfPage)
    const { batch } = take(run, never, matches)
    if (batch.length > 0) yield Array.from(batch, item => ({ type: 'ADDED', item }))
  }
}

/** When a watch works. */
interface Timing {
  readonly readers: Readers
  /** In milliseconds of `performance.now`, which does not change with the clock of the machine. */
  nextBookmark(): number
  /** `least`: the revision of the last event that was read, which may be one of a commit that is not applied as a whole yet. */
  makeBookmark(least: number): ItemEvent
}

/** A query, and other readers to take turns with than those of the source. */
export type TimedQuery = WatchQuery & { readonly readers?: Readers }

export function timing(source: WatchSource, kind: ServedKind, query: TimedQuery): Timing {
  const final = lastBookmark(query.deadline)
  return {
    readers: query.readers ?? source.readers,
    nextBookmark: () => (query.bookmarks ? nextBookmark(source.bookmarkEvery, final) : never),
    makeBookmark: least => bookmark(kind, Math.max(source.revision, least)),
  }
}

/** The live part of a watch: all events, and a bookmark when one is due and no event is pending. */
export async function* follow(
  source: WatchSource,
  reader: RingReader,
  signal: AbortSignal,
  { readers, nextBookmark: next, makeBookmark }: Timing,
): AsyncGenerator<readonly ItemEvent[]> {
  const watcher = new Watcher()
  watcher.due = next()
  signal.addEventListener('abort', watcher.wake)
  if (watcher.due !== never) source.ticker.add(watcher)
  try {
    while (!signal.aborted && !source.closed.aborted) {
      if (!reader.isCurrent) {
        await readers.enter()
        const events = reader.next()
        if (events !== undefined && events.length > 0) yield events
      } else if (performance.now() >= watcher.due) {
        watcher.due = next()
        yield [makeBookmark(reader.revision)]
      } else await watcher.sleep(reader.line)
    }
    yield* rest(reader, readers)
  } finally {
    signal.removeEventListener('abort', watcher.wake)
    source.ticker.remove(watcher)
    reader.line.forget(watcher.wake)
  }
}

/** Events before the end are still sent: the deletion of objects together with their CRD. */
async function* rest(reader: RingReader, readers: Readers): AsyncGenerator<readonly ItemEvent[]> {
  for (let events = reader.next(); events !== undefined; events = reader.next()) {
    if (events.length > 0) yield events
    await readers.enter()
  }
}

/** One resource of a cache, for watches. */
export interface WatchSource {
  readonly ring: Ring
  readonly ticker: Ticker
  /** Of all watches of the cache. */
  readonly readers: Readers
  /** Milliseconds between the bookmarks of one watch. */
  readonly bookmarkEvery: number
  /** The revision up to which the cache is current. */
  readonly revision: number
  /** Aborted when the cache is closed. */
  readonly closed: AbortSignal
}

/** A watch that waits for a time. */
export interface Sleeper {
  /** In milliseconds of `performance.now`; may change. */
  readonly due: number
  wake(): void
}

/** One timer for all sleepers. It compares their due times at an interval, and stops if there are none. */
export class Ticker {
  readonly #sleepers = new Set<Sleeper>()
  readonly #every: number
  #timer: NodeJS.Timeout | undefined

  /** `every`: milliseconds of delay at most. */
  constructor(every: number) {
    this.#every = every
  }

  add(sleeper: Sleeper): void {
    this.#sleepers.add(sleeper)
    this.#timer ??= setInterval(() => this.#tick(), this.#every).unref()
  }

  remove(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper)
    if (this.#sleepers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    const now = performance.now()
    for (const sleeper of this.#sleepers) if (sleeper.due <= now) sleeper.wake()
  }
}
