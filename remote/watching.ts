import { aborted } from '../framework/async/awaitable.ts'
import { initialEvents } from '../framework/cache/following.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import type { ItemWatch, WatchQuery } from '../framework/contract/storage.ts'
import { expired, StatusError } from '../framework/meta/errors.ts'
import { bookmark } from '../framework/responses/bookmark.ts'
import type { Copies, Shown } from './copy/copies.ts'
import type { Copy } from './copy/copy.ts'
import { watch as watchCopy } from './copy/reading.ts'
import { batches, kindOf } from './reading/listing.ts'
import type { Source } from './reading/source.ts'
import { connected, mayPass, Progress, type Watching } from './watches/connected.ts'

/** A watch for a client: what it begins with, and where it may be read besides the shard. */
interface Client extends Watching {
  readonly shown: Shown | undefined
  readonly progress: Progress
  /** To be called when nothing is refused any more. */
  readonly begun: () => void
  /** The state comes before the events. */
  wantsState: boolean
  /** The bookmark behind the state is still to be sent. */
  wantsEnd: boolean
}

/** Any position will do: that is none. */
const given = (resourceVersion: string | undefined): string | undefined =>
  resourceVersion === '' || resourceVersion === '0' ? undefined : resourceVersion

/**
 * A watch that outlives its connections: when one ends, the next begins where it ended, so that no event is lost and
 * none is sent twice. Ends with an error only where going on would lose something, or the shard refuses.
 */
export async function* watch(
  source: Source,
  ctx: RequestContext,
  query: WatchQuery,
  copies?: Copies,
): ItemWatch {
  const { initialEvents, bookmarks, resourceVersion } = query
  const shown = copies?.of(source, ctx, query)
  const progress = new Progress(initialEvents ? undefined : given(resourceVersion))
  const wanted = { wantsState: initialEvents, wantsEnd: initialEvents && bookmarks }
  const client: Client = { source, ctx, query, shown, progress, begun: beginningOf(query), ...wanted }
  shown?.kept.enter()
  try {
    while (!ctx.signal.aborted) yield* attempt(client)
  } finally {
    shown?.kept.leave()
  }
}

/** How to say that the watch has begun. */
function beginningOf({ asking }: WatchQuery): () => void {
  let begin = (): void => undefined
  asking?.(
    new Promise(resolve => {
      begin = resolve
    }),
  )
  return begin
}

async function* attempt(client: Client): ItemWatch {
  const { source, ctx, progress } = client
  try {
    if (progress.position === undefined) yield* begin(client)
    if (progress.position !== undefined) yield* goOn(client)
  } catch (error) {
    if (ctx.signal.aborted) return
    if (!mayPass(source, error)) throw error
  }
  client.begun()
  await progress.pause(ctx.signal)
}

/** Finds the position to watch from. What nobody has bound yet has none: when it comes, all of it is new. */
async function* begin(client: Client): ItemWatch {
  const { progress } = client
  if (client.wantsState) yield* state(client)
  else progress.position = await newest(client)
  client.wantsState ||= progress.position === undefined
}

async function newest({ source, ctx, query }: Watching): Promise<string | undefined> {
  const list = batches(source, ctx, { ...query, limit: 1, resourceVersion: '' })
  let next = await list.next()
  while (!next.done) next = await list.next()
  return given(next.value.metadata.resourceVersion)
}

/** At the shard until a copy has come as far, and then there. */
async function* goOn(client: Client): ItemWatch {
  const { shown, progress, ctx, query } = client
  const isThere = (copy: Copy | undefined): copy is Copy =>
    copy?.positionAfter(Number(progress.position)) !== undefined
  if (!isThere(await filled(client))) yield* connected(client, progress, () => isThere(shown?.kept.copy))
  const copy = shown?.kept.copy
  if (shown === undefined || !isThere(copy)) return
  client.begun()
  try {
    yield* watchCopy({ copy, query: shown.within(query), signal: ctx.signal }, progress)
  } catch (error) {
    // Who has read too slowly goes on at the shard, which remembers more.
    if (!isExpired(error)) throw error
  }
}

const isExpired = (error: unknown): boolean => error instanceof StatusError && error.code === 410

/** The copy, when it is filled; the client does not wait for longer than it wants. */
const filled = async ({ shown, ctx, progress }: Client): Promise<Copy | undefined> =>
  shown && ((await Promise.race([shown.kept.filled(progress.position), aborted(ctx.signal)])) ?? undefined)

/** The state as ADDED events. What the shard is asked for after the copy was filled can be followed there. */
async function* state(client: Client): ItemWatch {
  const { resourceVersion = '' } = client.query
  const copy = await filled(client)
  const isNewEnough = resourceVersion !== '' && copy !== undefined && copy.revision >= Number(resourceVersion)
  yield* isNewEnough ? copiedState(client, copy) : sentState(client)
}

async function* copiedState(client: Client, copy: Copy): ItemWatch {
  const { query, shown, progress } = client
  const { revision } = copy
  yield* initialEvents(copy.snapshot(), shown?.within(query) ?? query, copy.kind)
  progress.position = String(revision)
  if (client.wantsEnd) yield [bookmark(copy.kind, revision, true)]
  client.wantsEnd = false
}

/** From a list, whose resourceVersion is where the watch goes on. */
async function* sentState(client: Client): ItemWatch {
  const { source, ctx, query, progress } = client
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
    if (client.wantsEnd) yield [bookmark(kindOf(source, kind), Number(resourceVersion), true)]
    client.wantsEnd = false
  } catch (error) {
    // Half a state has been sent: nobody could tell what of the next one is new.
    if (isBegun && !ctx.signal.aborted) throw expired('the shard was lost while the state was sent')
    throw error
  } finally {
    await list.return({ kind: '', metadata: {} })
  }
}
