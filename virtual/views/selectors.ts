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

/** Selectors must not find hidden fields: with `hide`, they apply to what is shown. The source selects by name and namespace. */
export function selectedAsShown<Q extends Selection>(
  { hide, source }: ResourcePlan,
  query: Q,
): SelectedAsShown<Q> {
  if (hide.length === 0) return { below: query, selects: shown => shown }
  const { labels, fields, ...rest } = query
  const [own, others] = divided(fields)
  const computed = source.selectableFields ?? {}
  const textOf = (item: Item, field: string): string => computed[field]?.(item.object) ?? fieldOf(item, field)
  const [labelled, withFields] = [labelMatcher(labels ?? { requirements: [] }), fieldMatcher(others)]
  return {
    below: { ...rest, ...(own.requirements.length > 0 && { fields: own }) } as unknown as Q,
    selects: shown =>
      shown !== undefined && labelled(shown.meta.labels) && withFields(field => textOf(shown, field))
        ? shown
        : undefined,
  }
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
