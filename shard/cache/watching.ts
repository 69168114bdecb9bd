import { bookmark } from '../../framework/bookmark.ts'
import { expired } from '../../framework/errors.ts'
import type { ItemEvent } from '../../framework/item.ts'
import type { ItemWatch, WatchQuery } from '../../framework/storage.ts'
import { take } from './batch.ts'
import type { Line } from './line.ts'
import { waitFor } from './listing.ts'
import type { Snapshot } from './pages.ts'
import { Reader, tooOld } from './reader.ts'
import { matcherOf, rangeOf, type ServedKind } from './selection.ts'
import type { Source } from './source.ts'
import type { Sleeper } from './ticker.ts'
import { parseVersion } from './version.ts'

const never = Number.POSITIVE_INFINITY
const beforeDeadline = 2_000

/** Where a watch begins: maybe with a state, then with the events behind a position of the ring. */
interface Start {
  readonly initial: Snapshot | undefined
  readonly revision: number
  readonly position: number
}

const now = (source: Source, initial: boolean): Start => ({
  initial: initial ? source.snapshot() : undefined,
  revision: source.revision,
  position: source.ring.line.end,
})

/** Chapter 40, table 4.39. */
async function startOf(source: Source, query: WatchQuery, signal: AbortSignal): Promise<Start> {
  const asked = parseVersion(query.resourceVersion) ?? 0
  if (query.initialEvents) {
    await waitFor(source, asked, signal)
    return now(source, true)
  }
  if (asked === 0) return now(source, false)
  await source.reached(asked, signal)
  if (!source.ring.reaches(asked)) throw expired(tooOld(asked, source.ring))
  return { initial: undefined, revision: asked, position: source.ring.positionAfter(asked) }
}

/** Sleeps until there are events, until it is time for a bookmark, or until the watch is over. */
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

/** When the next bookmark is due: once per interval, and once shortly before the deadline (chapter 40, rule 4.54). */
function nextBookmark(interval: number, deadline: number | undefined): number {
  const time = Date.now()
  const final = (deadline ?? never) - beforeDeadline
  return time >= final ? never : Math.min(time + interval, final)
}

function* initialEvents(snapshot: Snapshot, query: WatchQuery, kind: ServedKind): Generator<ItemEvent[]> {
  const matches = matcherOf(query, kind)
  for (const run of snapshot.runs(rangeOf(query))) {
    const { batch } = take(run, never, matches)
    if (batch.length > 0) yield Array.from(batch, item => ({ type: 'ADDED', item }))
  }
}

/** All of chapter 40, sections 4.6 to 4.8, from memory. Throws 410 when the reader fell out of the ring. */
export async function* watch(
  source: Source,
  kind: ServedKind,
  signal: AbortSignal,
  query: WatchQuery,
): ItemWatch {
  const start = await startOf(source, query, signal)
  const reader = new Reader(source.ring, start, query, kind)
  try {
    if (start.initial !== undefined) {
      yield* initialEvents(start.initial, query, kind)
      if (query.bookmarks) yield [bookmark(kind, start.revision, true)]
    }
    yield* follow(source, reader, signal, bookmarks(source, kind, query))
  } finally {
    reader.leave()
  }
}

interface Bookmarks {
  /** In milliseconds since the epoch. */
  next(): number
  make(): ItemEvent
}

const bookmarks = (source: Source, kind: ServedKind, query: WatchQuery): Bookmarks => ({
  next: () => (query.bookmarks ? nextBookmark(source.bookmarkEvery, query.deadline) : never),
  make: () => bookmark(kind, source.revision),
})

/** The live part: everything that comes, and a bookmark when one is due and nothing is left to send. */
async function* follow(
  source: Source,
  reader: Reader,
  signal: AbortSignal,
  bookmarks: Bookmarks,
): AsyncGenerator<readonly ItemEvent[]> {
  const watcher = new Watcher()
  watcher.due = bookmarks.next()
  signal.addEventListener('abort', watcher.wake)
  if (watcher.due !== never) source.ticker.add(watcher)
  try {
    while (!signal.aborted && !source.closed.aborted) {
      const events = reader.next()
      if (events !== undefined) {
        if (events.length > 0) yield events
      } else if (Date.now() >= watcher.due) {
        watcher.due = bookmarks.next()
        yield [bookmarks.make()]
      } else await watcher.sleep(reader.line)
    }
    yield* rest(reader)
  } finally {
    signal.removeEventListener('abort', watcher.wake)
    source.ticker.remove(watcher)
    reader.line.forget(watcher.wake)
  }
}

/** What happened before the end is still told: of objects that went with their definition nobody would hear later. */
function* rest(reader: Reader): Generator<readonly ItemEvent[]> {
  for (let events = reader.next(); events !== undefined; events = reader.next())
    if (events.length > 0) yield events
}
