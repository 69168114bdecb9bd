import { aborted } from '../framework/async/awaitable.ts'
import { initialEvents } from '../framework/cache/following.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import type { ItemWatch, WatchQuery } from '../framework/contract/storage.ts'
import { expired, StatusError } from '../framework/meta/errors.ts'
import { ResponseTooLarge } from '../framework/net/failure.ts'
import { bookmark } from '../framework/responses/bookmark.ts'
import type { Copies, SelectedCopy } from './copy/copies.ts'
import type { Copy } from './copy/copy.ts'
import { watch as watchCopy } from './copy/reading.ts'
import { batches, kindOf } from './reading/listing.ts'
import type { Source } from './reading/source.ts'
import { connected, isRetriable, Progress, type Watching } from './watches/connected.ts'

/** A watch of a client, with its copy and its progress. */
interface Client extends Watching {
  readonly selected: SelectedCopy | undefined
  readonly progress: Progress
  /** Called when the watch can no longer be refused. */
  readonly begun: () => void
  /** Initial events are still to be sent. */
  needsInitialEvents: boolean
  /** The bookmark after the initial events is still to be sent. */
  needsEndBookmark: boolean
}

/** undefined for "" and "0", which name no resourceVersion. */
const given = (resourceVersion: string | undefined): string | undefined =>
  resourceVersion === '' || resourceVersion === '0' ? undefined : resourceVersion

/**
 * A watch that survives lost connections: the next connection continues after the last event, so that no event is
 * lost or repeated. Throws when events would be lost, or when the shard refuses.
 */
export async function* watch(
  source: Source,
  ctx: RequestContext,
  query: WatchQuery,
  copies?: Copies,
): ItemWatch {
  const { initialEvents, bookmarks, resourceVersion } = query
  const selected = copies?.of(source, ctx, query)
  const progress = new Progress(initialEvents ? undefined : given(resourceVersion))
  const wanted = { needsInitialEvents: initialEvents, needsEndBookmark: initialEvents && bookmarks }
  const client: Client = { source, ctx, query, selected, progress, begun: beginningOf(query), ...wanted }
  selected?.managed.enter()
  try {
    while (!ctx.signal.aborted) yield* attempt(client)
  } finally {
    selected?.managed.leave()
  }
}

/** Returns the function that reports to the client that the watch has begun. */
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
    if (!isRetriable(source, error)) throw error
  }
  client.begun()
  await progress.pause(ctx.signal)
}

/**
 * Finds the resourceVersion to watch from. A resource that is not bound has none: all objects of a later binding are
 * new.
 */
async function* begin(client: Client): ItemWatch {
  const { progress } = client
  if (client.needsInitialEvents) yield* state(client)
  else progress.position = await newest(client)
  client.needsInitialEvents ||= progress.position === undefined
}

async function newest({ source, ctx, query }: Watching): Promise<string | undefined> {
  const list = batches(source, ctx, { ...query, limit: 1, resourceVersion: '' })
  let next = await list.next()
  while (!next.done) next = await list.next()
  return given(next.value.metadata.resourceVersion)
}

/** Watches the shard until a copy has reached the position, and then the copy. */
async function* goOn(client: Client): ItemWatch {
  const { selected, progress, ctx, query } = client
  const isThere = (copy: Copy | undefined): copy is Copy =>
    copy?.positionAfter(Number(progress.position)) !== undefined
  if (!isThere(await filled(client)))
    yield* connected(client, progress, () => isThere(selected?.managed.copy))
  const copy = selected?.managed.copy
  if (selected === undefined || !isThere(copy)) return
  client.begun()
  try {
    yield* watchCopy({ copy, query: selected.within(query), signal: ctx.signal }, progress)
  } catch (error) {
    // The copy has dropped the events of a slow client; the shard keeps more.
    if (!isExpired(error)) throw error
  }
}

const isExpired = (error: unknown): boolean => error instanceof StatusError && error.code === 410

/** The copy when it is filled; undefined when the client leaves before. */
const filled = async ({ selected, ctx, progress }: Client): Promise<Copy | undefined> =>
  selected &&
  ((await Promise.race([selected.managed.filled(progress.position), aborted(ctx.signal)])) ?? undefined)

/** Initial events: from a copy that is new enough, and otherwise from the shard. */
async function* state(client: Client): ItemWatch {
  const { resourceVersion = '' } = client.query
  const copy = await filled(client)
  const isNewEnough = resourceVersion !== '' && copy !== undefined && copy.revision >= Number(resourceVersion)
  yield* isNewEnough ? copiedState(client, copy) : sentState(client)
}

async function* copiedState(client: Client, copy: Copy): ItemWatch {
  const { query, selected, progress } = client
  const { revision } = copy
  yield* initialEvents(copy.snapshot(), selected?.within(query) ?? query, copy.kind, copy.readers)
  progress.position = String(revision)
  if (client.needsEndBookmark) yield [bookmark(copy.kind, revision, true)]
  client.needsEndBookmark = false
}

/** Initial events from a list, whose resourceVersion is where the watch continues. */
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
    if (client.needsEndBookmark) yield [bookmark(kindOf(source, kind), Number(resourceVersion), true)]
    client.needsEndBookmark = false
  } catch (error) {
    // After a part of the initial events a client could not tell which objects of a new list it has.
    if (isBegun && !ctx.signal.aborted && !(error instanceof ResponseTooLarge))
      throw expired('the connection to the shard was lost while initial events were sent')
    throw error
  } finally {
    await list.return({ kind: '', metadata: {} })
  }
}
