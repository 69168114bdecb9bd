import type { RequestContext } from '../../framework/contract/context.ts'
import type { ItemList, ListMeta, ListQuery } from '../../framework/contract/storage.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { isNotFound } from '../../framework/meta/statuschecks.ts'
import { badGateway, failureOf } from '../../framework/net/failure.ts'
import { identityFields } from '../connection/identity.ts'
import { collectionOf, listOptionsOf, targetOf } from '../connection/target.ts'
import { type Batches, type ListHead, ListReader } from './listreader.ts'
import type { Requester, Source } from './source.ts'

/** A list as the shard sends it: batches of objects, and at the end the list's metadata. */
export async function* list(sent: Batches): ItemList {
  const { metadata } = yield* sent
  const { resourceVersion = '', remainingItemCount } = metadata
  return {
    resourceVersion,
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  }
}

/** The resource may be bound later: a watch from resourceVersion 0 sees its objects. */
const emptyHead: ListHead = { kind: '', metadata: { resourceVersion: '0' } satisfies ListMeta }

/** The kind of a list's items, for bookmarks. */
export const kindOf = ({ ref: { group, version } }: Source, listKind: string) => ({
  apiVersion: apiVersionOf(group, version),
  kind: listKind.replace(/List$/, ''),
})

/**
 * A resource of an export without bindings on this shard is an empty list, not 404 (kcp
 * `pkg/virtual/framework/forwardingregistry`).
 */
export const isUnbound = ({ ref }: Source, error: unknown): boolean =>
  ref.identity !== undefined && isNotFound(error)

/** The list as batches; empty for an unbound resource. */
export async function* batches(source: Source, ctx: RequestContext, query: ListQuery): Batches {
  try {
    return yield* shared(source, ctx, query)
  } catch (error) {
    if (isUnbound(source, error)) return emptyHead
    throw error
  }
}

/** Coalesces equal lists where possible. Only the first page of a paged list is coalesced. */
function shared(source: Source, ctx: RequestContext, query: ListQuery): Batches {
  if (source.coalescer === undefined || query.continue) return sent(source, ctx, query)
  const { actAs, hops } = ctx
  const id = JSON.stringify([targetOfList(source, query), identityFields(ctx)])
  return source.coalescer.list(id, ctx.signal, signal => sent(source, { actAs, hops, signal }, query))
}

const targetOfList = ({ ref }: Source, query: ListQuery): string =>
  targetOf(ref, collectionOf(query), listOptionsOf(query))

/** The list as the shard sends it. Throws the Status of the shard. */
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
    throw error instanceof SyntaxError ? badGateway('its response is not a list') : failureOf(error)
  }
}

/** Bytes below which parsing a piece separately is inefficient. */
const smallestPiece = 128 * 1024

/** Joins the small chunks of a long response: a shard sends a list a few objects at a time. */
export async function* pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let waiting: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    waiting.push(piece)
    length += piece.length
    if (length < smallestPiece) continue
    yield Buffer.concat(waiting, length)
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(waiting, length)
}
