import type { RequestContext } from '../../framework/contract/context.ts'
import type { Selection } from '../../framework/contract/storage.ts'
import { loopback } from '../../framework/request/user.ts'
import { formatLabelSelector, type LabelRequirement } from '../../framework/selectors/selectors.ts'

/** What one copy has of a resource. */
export interface Scope {
  readonly copied: Selection
  /** What a query has to look for in the copy. */
  readonly within: <Q extends Selection>(query: Q) => Q
  /** Equal for the same copy of one resource. */
  readonly name: string
}

const textOf = (requirement: LabelRequirement): string => formatLabelSelector({ requirements: [requirement] })

/**
 * What the view shows to everybody is copied; what a client selects of it is looked for there. undefined where the shard has
 * to answer: it decides what a user sees in one logical cluster, and what the fields of a kind are.
 */
export function scopeOf({ actAs }: RequestContext, selection: Selection): Scope | undefined {
  const { cluster, labels, fields, view } = selection
  if (cluster !== '*' || actAs !== loopback || fields !== undefined) return undefined
  const copied = new Set(view?.requirements.map(textOf))
  const requirements = labels?.requirements.filter(requirement => !copied.has(textOf(requirement))) ?? []
  return {
    copied: { cluster, ...(view && { labels: view }) },
    within: query => ({ ...query, labels: { requirements } }),
    name: view === undefined ? '' : formatLabelSelector(view),
  }
}
