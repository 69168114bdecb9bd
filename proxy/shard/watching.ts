import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestContext } from '../../framework/context.ts'
import { expired, StatusError } from '../../framework/errors.ts'
import { type ItemEvent, initialEventsEnd, itemOf } from '../../framework/item.ts'
import { apiVersionOf } from '../../framework/object.ts'
import type { ItemWatch, WatchQuery } from '../../framework/storage.ts'
import { failureOf } from '../failure.ts'
import { FrameReader } from './framereader.ts'
import { batches, isNobodys } from './listing.ts'
import type { Source } from './source.ts'
import { collectionOf, selectorsOf, targetOf } from './target.ts'

/** What one watch is about. */
interface Watching {
  readonly source: Source
  readonly ctx: RequestContext
  readonly query: WatchQuery
}

const firstPause = 50
const longestPause = 5_000

/** Where a watch has come to. */
interface Progress {
  /** The resourceVersion up to which everything has been sent; undefined: nothing yet. */
  position: string | undefined
  /** The state comes before the events. */
  wantsState: boolean
  /** The bookmark behind the state is still to be sent. */
  wantsEnd: boolean
  pause: number
}

/** Any position will do: that is none. */
const given = (resourceVersion: string | undefined): string | undefined =>
  resourceVersion === '' || resourceVersion === '0' ? undefined : resourceVersion

const startOf = ({ initialEvents, bookmarks, resourceVersion }: WatchQuery): Progress => ({
  position: initialEvents ? undefined : given(resourceVersion),
  wantsState: initialEvents,
  wantsEnd: initialEvents && bookmarks,
  pause: firstPause,
})

/**
 * A watch that outlives its connections: when one ends, the next begins where it ended, so that no event is lost and
 * none is sent twice. Ends with an error only where going on would lose something, or the shard refuses.
 */
export async function* watch(source: Source, ctx: RequestContext, query: WatchQuery): ItemWatch {
  const watching = { source, ctx, query }
  const progress = startOf(query)
  while (!ctx.signal.aborted) {
    try {
      if (progress.position === undefined) yield* begin(watching, progress)
      if (progress.position !== undefined) yield* events(watching, progress)
    } catch (error) {
      if (ctx.signal.aborted) return
      if (!mayPass(source, error)) throw error
    }
    await sleep(progress.pause * (1 + Math.random() / 2), undefined, { signal: ctx.signal }).catch(
      () => undefined,
    )
    progress.pause = Math.min(progress.pause * 2, longestPause)
  }
}

/** Finds the position to watch from. What nobody has bound yet has none: when it comes, all of it is new. */
async function* begin(watching: Watching, progress: Progress): ItemWatch {
  if (progress.wantsState) yield* state(watching, progress)
  else progress.position = await newest(watching)
  progress.wantsState ||= progress.position === undefined
}

async function newest({ source, ctx, query }: Watching): Promise<string | undefined> {
  const list = batches(source, ctx, { ...query, limit: 1, resourceVersion: '' })
  let next = await list.next()
  while (!next.done) next = await list.next()
  return given(next.value.metadata.resourceVersion)
}

/** The shard is not there, has too much to do, or nobody has bound the resource yet. */
function mayPass(source: Source, error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  return error.code === 429 || error.code >= 500 || isNobodys(source, error)
}

/** The state as ADDED events, from a list, whose resourceVersion is where the watch goes on. */
async function* state({ source, ctx, query }: Watching, progress: Progress): ItemWatch {
  const { initialEvents: _, bookmarks: _bookmarks, deadline: _deadline, ...selection } = query
  const isVersioned = (query.resourceVersion ?? '') !== ''
  const list = batches(source, ctx, { ...selection, ...(isVersioned ? { match: 'NotOlderThan' } : {}) })
  let isBegun = false
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      isBegun = true
      yield [...next.value].map(item => ({ type: 'ADDED' as const, item }))
    }
    const { kind, metadata } = next.value
    const { resourceVersion = '' } = metadata
    progress.position = given(resourceVersion)
    if (progress.wantsEnd) yield [stateEnd(source, kind.replace(/List$/, ''), resourceVersion)]
    progress.wantsEnd = false
  } catch (error) {
    // Half a state has been sent: nobody could tell what of the next one is new.
    if (isBegun && !ctx.signal.aborted) throw expired('the shard was lost while the state was sent')
    throw error
  } finally {
    await list.return({ kind: '', metadata: {} })
  }
}

function stateEnd({ ref }: Source, kind: string, resourceVersion: string): ItemEvent {
  const apiVersion = apiVersionOf(ref.group, ref.version)
  const metadata = { annotations: { [initialEventsEnd]: 'true' }, resourceVersion }
  return { type: 'BOOKMARK', item: itemOf({ apiVersion, kind, metadata }, '') }
}

async function* events({ source, ctx, query }: Watching, progress: Progress): ItemWatch {
  const options = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: progress.position,
    ...selectorsOf(query),
  }
  const target = targetOf(source.ref, collectionOf(query), options)
  const answer = await source.ask(ctx, { method: 'GET', target })
  const reader = new FrameReader(query.cluster)
  try {
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      const { events: all, error } = reader.push(piece)
      const last = all.at(-1)
      if (last !== undefined) progress.position = last.item.meta.resourceVersion
      if (last !== undefined) progress.pause = firstPause
      const seen = query.bookmarks ? all : all.filter(({ type }) => type !== 'BOOKMARK')
      if (seen.length > 0) yield seen
      if (error !== undefined) throw error
    }
  } catch (error) {
    throw failureOf(error)
  }
}
