import { Backoff } from '../../framework/async/backoff.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ItemWatch, WatchQuery } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { isVersionTooLarge } from '../../framework/meta/statuschecks.ts'
import { failureOf, ResponseTooLarge } from '../../framework/net/failure.ts'
import { collectionOf, selectorsOf, targetOf } from '../connection/target.ts'
import { isUnbound } from '../reading/listing.ts'
import type { Source } from '../reading/source.ts'
import { FrameReader } from './framereader.ts'

/** A watch of a client. */
export interface Watching {
  readonly source: Source
  readonly ctx: RequestContext
  readonly query: WatchQuery
  /** Called when the shard has accepted the watch. */
  readonly begun?: () => void
}

/** Milliseconds. */
const pauses = { first: 50, longest: 5_000 }

/** The position of a watch, across all its connections. */
export class Progress {
  /** The resourceVersion up to which all events were sent; undefined: none. */
  position: string | undefined
  readonly #backoff = new Backoff(pauses)

  constructor(position: string | undefined) {
    this.position = position
  }

  moved(position: string): void {
    this.position = position
    this.#backoff.reset()
  }

  /** Waits between two attempts, longer after each attempt without events. */
  pause(signal: AbortSignal): Promise<void> {
    return this.#backoff.pause(signal)
  }
}

/**
 * Errors after which a watch is tried again: the shard is unreachable or overloaded, or the resource is not bound
 * yet. Not when the shard has not reached the position: it may have lost what came before it; nor when an event is too
 * large, which the next attempt would get again.
 */
export function isRetriable(source: Source, error: unknown): boolean {
  if (!(error instanceof StatusError) || isVersionTooLarge(error)) return false
  if (error instanceof ResponseTooLarge) return false
  return error.code === 429 || error.code >= 500 || isUnbound(source, error)
}

/**
 * The events of one connection after the position of `progress`. Ends when `isEnough` returns true after an event.
 */
export async function* connected(
  { source, ctx, query, begun }: Watching,
  progress: Progress,
  isEnough: () => boolean = () => false,
): ItemWatch {
  const options = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: progress.position,
    ...selectorsOf(query),
  }
  const target = targetOf(source.ref, collectionOf(query), options)
  const answer = await source.ask(ctx, { method: 'GET', target })
  begun?.()
  const reader = new FrameReader(query.cluster)
  try {
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      const { events, error } = reader.push(piece)
      const last = events.at(-1)
      if (last !== undefined) progress.moved(last.item.meta.resourceVersion)
      const seen = query.bookmarks ? events : events.filter(({ type }) => type !== 'BOOKMARK')
      if (seen.length > 0) yield seen
      if (error !== undefined) throw error
      if (last !== undefined && isEnough()) return
    }
  } catch (error) {
    throw failureOf(error)
  }
}
