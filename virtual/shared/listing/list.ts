import { type Awaitable, turn } from '../../../framework/async/awaitable.ts'
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
  readonly shown: (items: ItemBatch) => Awaitable<readonly Item[]>
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

async function* onePage({ storage, shown }: Listing, ctx: RequestContext, query: ListQuery): ItemList {
  const list = storage.list(ctx, query)
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const items = await shown(next.value)
      if (items.length > 0)
        yield items.length === next.value.length && isSame(items, next.value) ? next.value : items
      await turn()
    }
    const { remainingItemCount: _, ...meta } = next.value
    return meta
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

function isSame(items: readonly Item[], batch: Iterable<Item>): boolean {
  let i = 0
  for (const item of batch) if (items[i++] !== item) return false
  return true
}

async function* pages(listing: Listing, ctx: RequestContext, first: ListQuery, limit: number): ItemList {
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit
  let query = first
  for (;;) {
    const { items, meta } = await pageOf(
      listing,
      ctx,
      left === Number.POSITIVE_INFINITY ? query : { ...query, limit: left },
    )
    if (items.length > 0) yield items
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
): Promise<{ readonly items: readonly Item[]; readonly meta: ListMeta }> {
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
