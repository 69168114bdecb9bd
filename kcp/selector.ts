import type { LabelRequirement, LabelSelector } from '../framework/selectors/selectors.ts'

/** `metav1.LabelSelectorRequirement`. */
export interface MetaV1LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

/** `metav1.LabelSelector`: a label selector as objects contain it. */
export interface MetaV1LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly MetaV1LabelSelectorRequirement[]
}

const operators: Readonly<Record<MetaV1LabelSelectorRequirement['operator'], LabelRequirement['operator']>> =
  { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' }

/** Labels sorted by key, then the expressions (`metav1.LabelSelectorAsSelector`). */
export function requirementsOf({
  matchLabels = {},
  matchExpressions = [],
}: MetaV1LabelSelector): LabelSelector {
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]): LabelRequirement => ({ key, operator: 'in', values: [value] }))
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }): LabelRequirement => ({ key, operator: operators[operator], values }),
  )
  return { requirements: [...labels, ...expressions] }
}
