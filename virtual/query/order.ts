import type { ItemList, RequestContext } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import type { QueryListing } from './listing.ts'
import type { OrderValue } from './question.ts'
import { compareTexts, type Found, nameOf, type PageQuery, type PageStart, scan } from './scan.ts'
import { sorted } from './sorted.ts'

/** The objects that one query can order. */
const mostOrdered = 100_000

/** Where an ordered page begins: behind the object with this value and name. */
interface OrderedStart extends PageStart {
  readonly value?: OrderValue
}

interface Ordered extends Found {
  readonly value: OrderValue
  /** Logical cluster, namespace of the unit, and the object in it. */
  readonly id: readonly string[]
}

/** A page in the order of a value. Objects without one are last; equal ones are in the order of their names. */
export async function* orderedPage(listing: QueryListing, ctx: RequestContext, about: PageQuery): ItemList {
  const { start } = about
  const { revision } = start
  const sign = listing.question.isDescending ? -1 : 1
  const all = await orderedItems(listing, ctx, about)
  const rest = await sorted(all, (a, b) => compare(a, b, sign))
  const { limit = 0 } = about.query
  const page = limit === 0 ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (page.length > 0) yield page.map(({ item }) => item)
  if (last === undefined || page.length === rest.length) return { resourceVersion: revision }
  const next: OrderedStart = { ...positionOf(last), revision }
  return { resourceVersion: revision, continue: listing.tokens.seal(JSON.stringify(next), listing.about) }
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
    if (first !== undefined && compare(each, first, sign) <= 0) continue
    if (all.length === mostOrdered)
      throw badRequest(`orderBy: the query selects more than ${mostOrdered} objects: ask about fewer`)
    all.push(each)
  }
  return all
}

type Position = Pick<Ordered, 'value' | 'id'>

/** The last object of the previous page; undefined for the first page. */
const firstOf = ({ unit, after, value = null }: OrderedStart): Position | undefined =>
  unit && { value, id: [...unit, after ?? ''] }

const positionOf = ({ unit, item, value }: Ordered): Omit<OrderedStart, 'revision'> => ({
  ...{ unit: [unit.cluster, unit.namespace], after: nameOf(item), value },
})

const idOf = ({ unit, item }: Found): readonly string[] => [unit.cluster, unit.namespace, nameOf(item)]

const compare = (a: Position, b: Position, sign: 1 | -1): number =>
  compareValues(a.value, b.value, sign) || compareTexts(a.id, b.id)

const rank: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2, object: 3 }

/** Numbers before texts before Booleans; null is last in both directions. */
function compareValues(a: OrderValue, b: OrderValue, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const ranks = (rank[typeof a] ?? 0) - (rank[typeof b] ?? 0)
  if (ranks !== 0) return sign * ranks
  return a === b ? 0 : sign * (a < b ? -1 : 1)
}
