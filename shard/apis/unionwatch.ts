import { Readers } from '../../framework/async/awaitable.ts'
import { turn } from '../../framework/async/turn.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import { type ItemEvent, initialEventsEnd } from '../../framework/contract/item.ts'
import type { ItemWatch, WatchQuery } from '../../framework/contract/storage.ts'
import type { ResourceCache } from '../cache/resource.ts'

const revisionOf = ({ item }: ItemEvent): number => Number(item.meta.resourceVersion)
const endsInitial = ({ type, item }: ItemEvent): boolean =>
  type === 'BOOKMARK' && item.meta.annotations[initialEventsEnd] === 'true'

/** One watched cache, with its events until they may be passed on. */
class Part {
  readonly #watch: ItemWatch
  waiting: readonly ItemEvent[] = []
  isOver = false
  #asked: Promise<void> | undefined

  constructor(watch: ItemWatch) {
    this.#watch = watch
  }

  /** Resolves when there are events, or at the end of the watch. */
  ready(): Promise<void> {
    if (this.waiting.length > 0 || this.isOver) return Promise.resolve()
    this.#asked ??= this.#ask()
    return this.#asked
  }

  async #ask(): Promise<void> {
    const { done, value } = await this.#watch.next()
    this.#asked = undefined
    this.isOver = done === true
    this.waiting = value ?? []
  }

  /** The events up to a revision. */
  take(revision: number): readonly ItemEvent[] {
    const taken = this.waiting.filter(event => revisionOf(event) <= revision)
    this.waiting = this.waiting.slice(taken.length)
    return taken
  }

  leave(): Promise<unknown> {
    return this.#watch.return()
  }
}

/**
 * One watch of several caches, in the order of revisions: events are passed on when all caches have given theirs up to
 * that revision. Ends when one of them ends.
 */
export async function* unionWatch(
  caches: readonly ResourceCache[],
  kind: ServedKind,
  signal: AbortSignal,
  query: WatchQuery,
): ItemWatch {
  const closing = new AbortController()
  const open = AbortSignal.any([signal, closing.signal])
  // Caches give their events before the next turn of the event loop.
  const readers = new Readers({ atOnce: Number.POSITIVE_INFINITY })
  const parts = caches.map(cache => new Part(cache.watch(kind, open, { ...query, readers })))
  let initial = query.initialEvents && query.bookmarks ? parts.length : 0
  try {
    for (;;) {
      await Promise.race(parts.map(part => part.ready()))
      const revision = caches[0]?.revision ?? 0
      for (const part of parts) void part.ready().catch(() => undefined)
      await turn()
      const events = parts.flatMap(part => part.take(revision)).sort((a, b) => revisionOf(a) - revisionOf(b))
      const ends = events.filter(endsInitial)
      const told = events.filter(event => !endsInitial(event))
      if (told.length > 0) yield told
      initial -= ends.length
      if (ends.length > 0 && initial === 0) yield ends.slice(-1)
      if (parts.some(part => part.isOver)) return
    }
  } finally {
    closing.abort()
    await Promise.all(parts.map(part => part.leave()))
  }
}
