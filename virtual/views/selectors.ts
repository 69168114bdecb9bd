import { fieldOf } from '../../framework/contract/item.ts'
import type { FieldSelector, Item, Selection } from '../../framework/index.ts'
import { fieldMatcher, labelMatcher } from '../../framework/selectors/matcher.ts'
import type { ResourcePlan } from './plan.ts'

/** A query for the source, and the selectors of the client that apply to what the View shows. */
export interface SelectedAsShown<Q extends Selection> {
  readonly below: Q
  /** undefined for items that are not selected. */
  readonly selects: (shown: Item | undefined) => Item | undefined
}

/**
 * Selectors must not find hidden fields: with `hide`, they apply to what is shown. The source selects by name and namespace, and by the
 * labels that the expression of the View compares.
 */
export function selectedAsShown<Q extends Selection>(plan: ResourcePlan, query: Q): SelectedAsShown<Q> {
  const { hide, source } = plan
  if (hide.length === 0) return { below: withLabels(plan, query), selects: shown => shown }
  const { labels, fields, ...rest } = query
  const [own, others] = divided(fields)
  const computed = source.selectableFields ?? {}
  const textOf = (item: Item, field: string): string => computed[field]?.(item.object) ?? fieldOf(item, field)
  const [labelled, withFields] = [labelMatcher(labels ?? { requirements: [] }), fieldMatcher(others)]
  const below = { ...rest, ...(own.requirements.length > 0 && { fields: own }) } as unknown as Q
  return {
    below: withLabels(plan, below),
    selects: shown =>
      shown !== undefined && labelled(shown.meta.labels) && withFields(field => textOf(shown, field))
        ? shown
        : undefined,
  }
}

/** Whether the labels are those that the expression of the View compares. */
export const labelledBy = ({ where }: ResourcePlan) => labelMatcher({ requirements: where?.labels ?? [] })

function withLabels<Q extends Selection>({ where }: ResourcePlan, query: Q): Q {
  const own = where?.labels ?? []
  if (own.length === 0) return query
  return { ...query, labels: { requirements: [...(query.labels?.requirements ?? []), ...own] } }
}

const keyFields = ['metadata.name', 'metadata.namespace']

function divided(
  { requirements }: FieldSelector = { requirements: [] },
): readonly [FieldSelector, FieldSelector] {
  const isKey = ({ field }: FieldSelector['requirements'][number]): boolean => keyFields.includes(field)
  return [
    { requirements: requirements.filter(isKey) },
    { requirements: requirements.filter(requirement => !isKey(requirement)) },
  ]
}
