import {
  expired,
  type Item,
  type ItemBatch,
  type ItemList,
  type ListMeta,
  type ListQuery,
  type RequestContext,
} from '../../framework/index.ts'
import { newestRevision } from '../shared/watching/newestrevision.ts'
import { checkExpressions } from './check.ts'
import type { QueryListing } from './listing.ts'
import { orderedPage } from './order.ts'
import { CostSpent, type QueryQuestion, tooExpensive } from './question.ts'
import { type Found, nameOf, type PageQuery, type PageStart, scan } from './scan.ts'

/** Lists the selected objects of all units as they were at one revision. */
export async function* listQueried(listing: QueryListing, ctx: RequestContext, query: ListQuery): ItemList {
  const { question, units } = listing
  try {
    await checkExpressions(question, units, ctx)
    const start = await startOf(listing, ctx, query)
    if (question.orderBy !== '') return yield* orderedPage(listing, ctx, { query, start })
    const selected = page(listing, ctx, { query, start })
    return yield* question.where === '' ? selected : wholeOf(selected)
  } catch (error) {
    throw error instanceof CostSpent ? tooExpensive() : error
  }
}

async function startOf(
  { tokens, about, anywhere }: QueryListing,
  ctx: RequestContext,
  { continue: token = '', resourceVersion = '', match }: ListQuery,
): Promise<PageStart> {
  if (token !== '') {
    const opened = tokens.open(token, about)
    if (opened !== undefined) return JSON.parse(opened) as PageStart
    throw expired(
      'The provided continue parameter is too old: the query or the server has changed. Start the list again.',
    )
  }
  const asked = resourceVersion === '' ? {} : { resourceVersion, ...(match && { match }) }
  return { revision: String(await newestRevision(anywhere, ctx, { cluster: nowhere, ...asked })) }
}

/** No logical cluster has this name: a list of it has a revision only. */
const nowhere = '-'

/** Selects all objects before the first one is sent, so that the client gets an error instead of a part of the list. */
async function* wholeOf(list: ItemList): ItemList {
  const batches: ItemBatch[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) batches.push(next.value)
  yield* batches
  return next.value
}

const mostInBatch = 500

/**
 * A page of the objects in the order of their names. With `limit`, a page whose expressions cost too much ends early: it has
 * fewer objects, and a token.
 */
async function* page(listing: QueryListing, ctx: RequestContext, about: PageQuery): ItemList {
  const { limit = 0 } = about.query
  let [batch, count]: [Item[], number] = [[], 0]
  let last: Found | undefined
  for await (const found of scan(listing, ctx, about)) {
    const answer = answerFor(listing.question, found)
    if (answer === 'no cost left' && (limit === 0 || last === undefined)) throw tooExpensive()
    if (answer === 'no cost left' || (answer === 'selected' && limit > 0 && count === limit)) {
      if (batch.length > 0) yield batch
      return continued(listing, about.start, last)
    }
    last = found
    if (answer !== 'selected') continue
    count++
    batch.push(found.item)
    if (batch.length < mostInBatch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
  return { resourceVersion: about.start.revision }
}

function answerFor(
  question: QueryQuestion,
  { item, unit }: Found,
): 'selected' | 'not selected' | 'no cost left' {
  try {
    return question.selects(item, unit) ? 'selected' : 'not selected'
  } catch (error) {
    if (error instanceof CostSpent) return 'no cost left'
    throw error
  }
}

function continued(
  { tokens, about }: QueryListing,
  { revision }: PageStart,
  last: Found | undefined,
): ListMeta {
  if (last === undefined) return { resourceVersion: revision }
  const { unit, item } = last
  const start: PageStart = { revision, unit: [unit.cluster, unit.namespace], after: nameOf(item) }
  return { resourceVersion: revision, continue: tokens.seal(JSON.stringify(start), about) }
}
