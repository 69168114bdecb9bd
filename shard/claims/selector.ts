import type { LabelRequirement, LabelSelector } from '../../framework/selectors/selectors.ts'
import type { PermissionClaimSelector } from '../../kcp/claims.ts'

interface Expression {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

const operators: Readonly<Record<Expression['operator'], LabelRequirement['operator']>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** A LabelSelector as Kubernetes writes it in objects: labels by key, then expressions. */
export function requirementsOf({
  matchLabels = {},
  matchExpressions = [],
}: PermissionClaimSelector): LabelSelector {
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]): LabelRequirement => ({ key, operator: 'in', values: [value] }))
  const expressions = (matchExpressions as readonly Expression[]).map(
    ({ key, operator, values = [] }): LabelRequirement => ({ key, operator: operators[operator], values }),
  )
  return { requirements: [...labels, ...expressions] }
}

/** The selector of an accepted claim; undefined when all objects are meant. */
export const claimedObjects = (selector: PermissionClaimSelector | undefined): LabelSelector | undefined =>
  selector === undefined || selector.matchAll === true ? undefined : requirementsOf(selector)
