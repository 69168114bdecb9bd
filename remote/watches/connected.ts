import { Backoff } from '../../framework/async/backoff.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ItemWatch, WatchQuery } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { failureOf } from '../../framework/net/failure.ts'
import { collectionOf, selectorsOf, targetOf } from '../connection/target.ts'
import { isNobodys } from '../reading/listing.ts'
import type { Source } from '../reading/source.ts'
import { FrameReader } from './framereader.ts'

/** What one watch is about. */
export interface Watching {
  readonly source: Source
  readonly ctx: RequestContext
  readonly query: WatchQuery
  /** Called when the shard has not refused. */
  readonly begun?: () => void
}

/** Milliseconds. */
const pauses = { first: 50, longest: 5_000 }

/** Where a watch has come to, over all its connections. */
export class Progress {
  /** The resourceVersion up to which everything has been sent; undefined: nothing yet. */
  position: string | undefined
  readonly #backoff = new Backoff(pauses)

  constructor(position: string | undefined) {
    this.position = position
  }

  moved(position: string): void {
    this.position = position
    this.#backoff.reset()
  }

  /** Between two attempts: longer when nothing has come of the last ones. */
  pause(signal: AbortSignal): Promise<void> {
    return this.#backoff.pause(signal)
  }
}

/** The shard is not there, has too much to do, or nobody has bound the resource yet. */
export function mayPass(source: Source, error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  return error.code === 429 || error.code >= 500 || isNobodys(source, error)
}

/** What one connection tells from the position on; `isEnough` is asked whenever that has moved. */
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
