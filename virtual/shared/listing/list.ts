import type { Awaitable } from '../../../framework/async/awaitable.ts'
import { turn } from '../../../framework/async/turn.ts'
import type { TokenCipher } from '../../../framework/contract/context.ts'
import {
  expired,
  type Item,
  type ItemBatch,
  type ItemList,
  type ListMeta,
  type ListQuery,
  type RequestContext,
  type ResourceStorage,
  StatusError,
} from '../../../framework/index.ts'

/** How one request lists. */
export interface Listing {
  readonly storage: ResourceStorage
  /** The shown ones of some items, in their order, as they are shown. */
  readonly shown: (items: ItemBatch) => Awaitable<ItemBatch>
  /**
   * The items that are shown, as they are stored. Where it throws, no object has been sent yet, so that the client gets the error
   * instead of a part of the list. Without it, `shown` never throws.
   */
  readonly chosen?: (items: ItemBatch) => Awaitable<ItemBatch>
  readonly tokens: TokenCipher
  /** What continue tokens are valid for. */
  readonly about: string
}

/**
 * Lists shown items. A page has exactly `limit` items, and a token only if more of them follow: neither tells how many
 * hidden objects there are.
 */
export async function* listShown(listing: Listing, ctx: RequestContext, query: ListQuery): ItemList {
  const { limit = 0, continue: sealed = '', ...rest } = query
  if (sealed === '' && limit === 0) return yield* onePage(listing, ctx, rest)
  const first = sealed === '' ? rest : { ...scopeOf(rest), continue: tokenIn(listing, sealed) }
  return yield* pages(listing, ctx, first, limit)
}

/** Throws 410 for tokens of another process, or of another state of the View. */
function tokenIn({ tokens, about }: Listing, sealed: string): string {
  const token = tokens.open(sealed, about)
  if (token !== undefined) return token
  throw expired(
    'The provided continue parameter is too old: the View or the server has changed. Start the list again.',
  )
}

/** The query of further pages has no resourceVersion. */
const scopeOf = ({ resourceVersion: _, match: __, ...scope }: ListQuery): ListQuery => scope

async function* onePage(
  { storage, shown, chosen }: Listing,
  ctx: RequestContext,
  query: ListQuery,
): ItemList {
  const stored = storage.list(ctx, query)
  const list = chosen === undefined ? stored : chosenFirst(stored, chosen)
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const items = await shown(next.value)
      if (items.length > 0) yield sameOr(next.value, items)
      await turn()
    }
    const { remainingItemCount: _, ...meta } = next.value
    return meta
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

/** Chooses from the whole list before its first batch. */
async function* chosenFirst(list: ItemList, chosen: Required<Listing>['chosen']): ItemList {
  const batches: ItemBatch[] = []
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const items = await chosen(next.value)
      if (items.length > 0) batches.push(sameOr(next.value, items))
      await turn()
    }
    yield* batches
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

/** The batch, whose bytes are sent as they are, if the items are the same. */
function sameOr(batch: ItemBatch, items: ItemBatch): ItemBatch {
  if (items.length !== batch.length) return items
  const others = items[Symbol.iterator]()
  for (const item of batch) if (others.next().value !== item) return items
  return batch
}

/** Reads the whole page before it is sent: also the search of the next shown object can fail. */
async function* pages(listing: Listing, ctx: RequestContext, first: ListQuery, limit: number): ItemList {
  const batches: ItemBatch[] = []
  const meta = await pageInto(batches, listing, ctx, { first, limit })
  yield* batches
  return meta
}

interface PageOptions {
  readonly first: ListQuery
  /** 0: no limit. */
  readonly limit: number
}

async function pageInto(
  batches: ItemBatch[],
  listing: Listing,
  ctx: RequestContext,
  { first, limit }: PageOptions,
): Promise<ListMeta> {
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit
  let query = first
  for (;;) {
    const { items, meta } = await pageOf(
      listing,
      ctx,
      left === Number.POSITIVE_INFINITY ? query : { ...query, limit: left },
    )
    if (items.length > 0) batches.push(items)
    left -= items.length
    const { continue: token = '', remainingItemCount: _, ...own } = meta
    if (token === '') return own
    if (left === 0) return { ...own, ...(await continued(listing, ctx, query, token)) }
    query = { ...scopeOf(query), continue: token }
  }
}

/** The number of objects that are read at once in search of the next one that is shown. */
const step = 500

/** The token of the next page; nothing if no more objects are shown. */
async function continued(
  listing: Listing,
  ctx: RequestContext,
  query: ListQuery,
  start: string,
): Promise<Pick<ListMeta, 'continue'>> {
  let token = start
  while (token !== '') {
    const { items, meta } = await pageOf(listing, ctx, { ...scopeOf(query), limit: step, continue: token })
    if (items.length > 0) return { continue: listing.tokens.seal(token, listing.about) }
    token = meta.continue ?? ''
  }
  return {}
}

async function pageOf(
  { storage, shown }: Listing,
  ctx: RequestContext,
  query: ListQuery,
): Promise<{ readonly items: ItemBatch; readonly meta: ListMeta }> {
  const list = storage.list(ctx, query)
  const items: Item[] = []
  let next = await list.next().catch(withoutToken)
  for (; !next.done; next = await list.next()) for (const item of next.value) items.push(item)
  await turn()
  return { items: await shown(items), meta: next.value }
}

/** The 410 for an old token has another token (rules.md 4.21), with the key of an object that may be hidden. */
function withoutToken(error: unknown): never {
  const isOld = error instanceof StatusError && error.status.metadata.continue !== undefined
  throw isOld ? expired(error.message) : error
}
