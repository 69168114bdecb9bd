import type { RequestContext } from '../../framework/contract/context.ts'
import type { ItemList, ListMeta, ListQuery } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { badGateway, failureOf } from '../../framework/net/failure.ts'
import { identityFields } from '../connection/identity.ts'
import { collectionOf, listOptionsOf, targetOf } from '../connection/target.ts'
import { type Batches, type ListHead, ListReader } from './listreader.ts'
import type { Requester, Source } from './source.ts'

/** A list as the shard sends it: batches as they come, and at last what the list says of itself. */
export async function* list(sent: Batches): ItemList {
  const { metadata } = yield* sent
  const { resourceVersion = '', remainingItemCount } = metadata
  return {
    resourceVersion,
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  }
}

/** The resource may be bound later: a watch from this version sees its objects. */
const nobodys: ListHead = { kind: '', metadata: { resourceVersion: '0' } satisfies ListMeta }

/** The kind of a list's elements, as bookmarks name it. */
export const kindOf = ({ ref: { group, version } }: Source, listKind: string) => ({
  apiVersion: apiVersionOf(group, version),
  kind: listKind.replace(/List$/, ''),
})

/** A resource of an export without bindings on this shard is an empty list, not 404 (kcp `pkg/virtual/framework/forwardingregistry`). */
export const isNobodys = ({ ref }: Source, error: unknown): boolean =>
  ref.identity !== undefined && error instanceof StatusError && error.code === 404

/** Nothing of what nobody has bound. */
export async function* batches(source: Source, ctx: RequestContext, query: ListQuery): Batches {
  try {
    return yield* shared(source, ctx, query)
  } catch (error) {
    if (isNobodys(source, error)) return nobodys
    throw error
  }
}

/** Asked once for all who ask alike meanwhile, where that may be. Who reads page by page is alone behind the first. */
function shared(source: Source, ctx: RequestContext, query: ListQuery): Batches {
  if (source.coalescer === undefined || query.continue) return sent(source, ctx, query)
  const { actAs, hops } = ctx
  const id = JSON.stringify([targetOfList(source, query), identityFields(ctx)])
  return source.coalescer.list(id, ctx.signal, signal => sent(source, { actAs, hops, signal }, query))
}

const targetOfList = ({ ref }: Source, query: ListQuery): string =>
  targetOf(ref, collectionOf(query), listOptionsOf(query))

/** What the shard answers, whatever that is. */
export async function* sent(source: Source, requester: Requester, query: ListQuery): Batches {
  const answer = await source.ask(requester, { method: 'GET', target: targetOfList(source, query) })
  const reader = new ListReader(query.cluster)
  try {
    for await (const piece of pieces(answer.body)) {
      const batch = reader.push(piece)
      if (batch !== undefined) yield batch
    }
    return reader.finish()
  } catch (error) {
    throw error instanceof SyntaxError ? badGateway('its answer is no list') : failureOf(error)
  }
}

/** Less than this is not worth looking at alone. */
const worthReading = 128 * 1024

/** The bytes of a long answer in pieces that are worth it: a shard sends a list a few objects at a time. */
export async function* pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let waiting: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    waiting.push(piece)
    length += piece.length
    if (length < worthReading) continue
    yield Buffer.concat(waiting, length)
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(waiting, length)
}
