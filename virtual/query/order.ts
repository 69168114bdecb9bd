import type { ItemList, RequestContext } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import type { QueryListing } from './listing.ts'
import type { OrderValue } from './question.ts'
import { compareTexts, type Found, nameOf, type PageQuery, type PageStart, scan } from './scan.ts'

/** The objects that one query can order. */
const mostOrdered = 100_000

/** Where an ordered page begins: behind the object with this value and name. */
interface OrderedStart extends PageStart {
  readonly value?: OrderValue
}

interface Ordered extends Found {
  readonly value: OrderValue
}

/** A page in the order of a value. Objects without one are last; equal ones are in the order of their names. */
export async function* orderedPage(listing: QueryListing, ctx: RequestContext, about: PageQuery): ItemList {
  const { start } = about
  const { revision } = start
  const sign = listing.question.isDescending ? -1 : 1
  const all = await orderedItems(listing, ctx, { ...about, start: { revision } })
  all.sort((a, b) => compare(a, b, sign))
  const first = start.unit === undefined ? 0 : all.findIndex(each => isBehind(each, start, sign))
  const { limit = 0 } = about.query
  const rest = first < 0 ? [] : all.slice(first)
  const page = limit === 0 ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (page.length > 0) yield page.map(({ item }) => item)
  if (last === undefined || page.length === rest.length) return { resourceVersion: revision }
  const next: OrderedStart = { ...positionOf(last), revision }
  return { resourceVersion: revision, continue: listing.tokens.seal(JSON.stringify(next), listing.about) }
}

async function orderedItems(
  listing: QueryListing,
  ctx: RequestContext,
  about: PageQuery,
): Promise<Ordered[]> {
  const { question } = listing
  const all: Ordered[] = []
  for await (const found of scan(listing, ctx, about)) {
    const { item, unit } = found
    if (!question.selects(item, unit.resource)) continue
    if (all.length === mostOrdered)
      throw badRequest(`orderBy: the query selects more than ${mostOrdered} objects: ask about fewer`)
    all.push({ ...found, value: question.valueOf(item, unit.resource) })
  }
  return all
}

const positionOf = ({ unit, item, value }: Ordered): Omit<OrderedStart, 'revision'> => ({
  ...{ unit: [unit.cluster, unit.namespace], after: nameOf(item), value },
})

const idOf = ({ unit, item }: Found): readonly string[] => [unit.cluster, unit.namespace, ...nameOf(item)]

const compare = (a: Ordered, b: Ordered, sign: 1 | -1): number =>
  compareValues(a.value, b.value, sign) || compareTexts(idOf(a), idOf(b))

function isBehind(
  each: Ordered,
  { value = null, unit = ['', ''], after = [] }: OrderedStart,
  sign: 1 | -1,
): boolean {
  return (compareValues(each.value, value, sign) || compareTexts(idOf(each), [...unit, ...after])) > 0
}

const rank: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2, object: 3 }

/** Numbers before texts before Booleans; null is last in both directions. */
function compareValues(a: OrderValue, b: OrderValue, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const ranks = (rank[typeof a] ?? 0) - (rank[typeof b] ?? 0)
  if (ranks !== 0) return sign * ranks
  return a === b ? 0 : sign * (a < b ? -1 : 1)
}
