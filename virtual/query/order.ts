import { relabeledItem } from '../../framework/contract/item.ts'
import type { Item, ItemList, RequestContext } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import {
  comparePositions,
  type OrderPosition,
  type OrderValue,
  positionAnnotation,
} from '../../framework/selectors/order.ts'
import type { QueryListing } from './listing.ts'
import { type Found, nameOf, type PageQuery, type PageStart, scan } from './scan.ts'
import { sorted } from './sorted.ts'

/** The objects that one query can order. */
const mostOrdered = 100_000

/** Where an ordered page begins: behind the object with this value and name. */
interface OrderedStart extends PageStart {
  readonly value?: OrderValue
}

/** `id`: logical cluster, namespace of the unit, and the object in it. */
interface Ordered extends Found, OrderPosition {}

/** A page in the order of a value. Objects without one are last; equal ones are in the order of their names. */
export async function* orderedPage(listing: QueryListing, ctx: RequestContext, about: PageQuery): ItemList {
  const { start } = about
  const { revision } = start
  const sign = listing.question.isDescending ? -1 : 1
  const all = await orderedItems(listing, ctx, about)
  const rest = await sorted(all, (a, b) => comparePositions(a, b, sign))
  const { limit = 0 } = about.query
  const page = limit === 0 ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (page.length > 0) yield page.map(listing.question.isPart ? positioned : ({ item }) => item)
  if (last === undefined || page.length === rest.length) return { resourceVersion: revision }
  const next: OrderedStart = { ...positionOf(last), revision }
  return { resourceVersion: revision, continue: listing.tokens.seal(JSON.stringify(next), listing.about) }
}

/** The item with its position, for a front proxy. */
function positioned({ item, value, id }: Ordered): Item {
  const position: OrderPosition = { value, id }
  const annotations = { ...item.meta.annotations, [positionAnnotation]: JSON.stringify(position) }
  return relabeledItem(item, { annotations })
}

/** The selected objects behind the start of the page. */
async function orderedItems(
  listing: QueryListing,
  ctx: RequestContext,
  { query, start }: PageQuery,
): Promise<readonly Ordered[]> {
  const { question } = listing
  const sign = question.isDescending ? -1 : 1
  const first = firstOf(start)
  const all: Ordered[] = []
  for await (const found of scan(listing, ctx, { query, start: { revision: start.revision } })) {
    const { item, unit } = found
    if (!question.selects(item, unit)) continue
    const each = { ...found, value: question.valueOf(item, unit), id: idOf(found) }
    if (first !== undefined && comparePositions(each, first, sign) <= 0) continue
    if (all.length === mostOrdered)
      throw badRequest(`orderBy: the query selects more than ${mostOrdered} objects: ask about fewer`)
    all.push(each)
  }
  return all
}

/** The last object of the previous page; undefined for the first page. */
const firstOf = ({ unit, after, value = null }: OrderedStart): OrderPosition | undefined =>
  unit && { value, id: [...unit, after ?? ''] }

const positionOf = ({ unit, item, value }: Ordered): Omit<OrderedStart, 'revision'> => ({
  unit: [unit.cluster, unit.namespace],
  after: nameOf(item),
  value,
})

const idOf = ({ unit, item }: Found): readonly string[] => [unit.cluster, unit.namespace, nameOf(item)]
