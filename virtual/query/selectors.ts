import { fieldOf } from '../../framework/contract/item.ts'
import type { ApiResource, Item, Selection } from '../../framework/index.ts'
import { fieldMatcher, labelMatcher } from '../../framework/selectors/matcher.ts'

/** The selectors of a request, for single items. */
export interface ItemSelectors {
  readonly labels: (item: Item) => boolean
  readonly fields: (item: Item, resource: ApiResource) => boolean
}

export function selectorsOf({ labels, fields }: Selection): ItemSelectors {
  const labelled = labelMatcher(labels ?? { requirements: [] })
  const withFields = fieldMatcher(fields ?? { requirements: [] })
  return {
    labels: ({ meta }) => labelled(meta.labels),
    fields: (item, { selectableFields = {} }) =>
      withFields(field => selectableFields[field]?.(item.object) ?? fieldOf(item, field)),
  }
}
