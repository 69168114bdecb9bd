import type { Selection } from '../../framework/index.ts'
import { type ShownSelection, shownSelection } from '../../framework/lens/sight.ts'
import { labelMatcher } from '../../framework/selectors/matcher.ts'
import type { ResourcePlan } from './plan.ts'

/**
 * The query for the source of a View, which selects by the labels that the expression of the View compares. With `hide`, the selectors of
 * the client apply to what the View shows.
 */
export function selectionOf<Q extends Selection>(plan: ResourcePlan, query: Q): ShownSelection<Q> {
  const { hide, source } = plan
  if (hide.length === 0) return { below: withLabels(plan, query) }
  const { below, ...selecting } = shownSelection(query, source.selectableFields ?? {})
  return { below: withLabels(plan, below), ...selecting }
}

/** Whether the labels are those that the expression of the View compares. */
export const labelledBy = ({ where }: ResourcePlan) => labelMatcher({ requirements: where?.labels ?? [] })

function withLabels<Q extends Selection>({ where }: ResourcePlan, query: Q): Q {
  const own = where?.labels ?? []
  if (own.length === 0) return query
  return { ...query, labels: { requirements: [...(query.labels?.requirements ?? []), ...own] } }
}
