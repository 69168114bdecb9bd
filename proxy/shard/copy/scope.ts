import type { RequestContext } from '../../../framework/context.ts'
import { formatLabelSelector, type LabelRequirement } from '../../../framework/selectors.ts'
import type { Selection } from '../../../framework/storage.ts'
import { loopback } from '../../../framework/user.ts'

/** What one copy has of a resource. */
export interface Scope {
  readonly copied: Selection
  /** What a query has to look for in the copy. */
  readonly within: <Q extends Selection>(query: Q) => Q
  /** Equal for the same copy of one resource. */
  readonly name: string
}

/** Labels that only kcp writes. Views choose by them what they show, and so they choose what is copied. */
const isViews = ({ key }: LabelRequirement): boolean => /^([^/]+\.)?internal\.([^/]+\.)?kcp\.io\//.test(key)

/**
 * undefined where the shard has to answer: it decides what a user sees in one logical cluster, and what the fields of a
 * kind are.
 */
export function scopeOf({ actAs }: RequestContext, selection: Selection): Scope | undefined {
  const { cluster, labels, fields } = selection
  if (cluster !== '*' || actAs !== loopback || fields !== undefined) return undefined
  const requirements = labels?.requirements ?? []
  const views = { requirements: requirements.filter(isViews) }
  const others = requirements.filter(requirement => !isViews(requirement))
  return {
    copied: { cluster, ...(views.requirements.length > 0 && { labels: views }) },
    within: query => ({ ...query, labels: { requirements: others } }),
    name: formatLabelSelector(views),
  }
}
