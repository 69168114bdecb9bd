import { Pace } from '../../framework/async/awaitable.ts'
import type { Item, ListQuery, RequestContext } from '../../framework/index.ts'
import { compareTexts } from '../../framework/selectors/order.ts'
import type { QueryListing } from './listing.ts'
import { contextFor, type Unit } from './units.ts'

/** Where a page begins: behind an object of a unit. */
export interface PageStart {
  readonly revision: string
  readonly unit?: readonly [cluster: string, namespace: string]
  /** `namespace/name`, in the order of lists. */
  readonly after?: string
}

/** An item with the unit in which it was found. */
export interface Found {
  readonly item: Item
  readonly unit: Unit
}

/** What one page reads. */
export interface PageQuery {
  readonly query: ListQuery
  readonly start: PageStart
}

/** The items behind the start, in the order of units and names; not yet selected by the expression. */
export async function* scan(
  { units, question }: Pick<QueryListing, 'units' | 'question'>,
  ctx: RequestContext,
  { query, start }: PageQuery,
): AsyncGenerator<Found, void> {
  const { labels, fields } = query
  const pace = new Pace()
  for (const unit of units) {
    const order = start.unit === undefined ? 1 : compareTexts([unit.cluster, unit.namespace], start.unit)
    if (order < 0) continue
    const own = question.labelsFor(unit.resource)
    const requirements = [...(labels?.requirements ?? []), ...own]
    const list = unit.resource.storage.list(contextFor(ctx, unit), {
      cluster: unit.cluster,
      ...(unit.namespace !== '' && { namespace: unit.namespace }),
      ...(requirements.length > 0 && { labels: { requirements } }),
      ...(fields && { fields }),
      resourceVersion: start.revision,
      match: 'Exact',
    })
    for await (const batch of list)
      for (const item of batch) {
        const wait = pace.due()
        if (wait !== undefined) await wait
        if (order > 0 || nameOf(item) > (start.after ?? '')) yield { item, unit }
      }
  }
}

export const nameOf = ({ key }: Item): string => `${key.namespace}/${key.name}`
