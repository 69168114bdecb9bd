import type { Item, UserInfo } from '../../framework/index.ts'
import { internalError } from '../../framework/meta/errors.ts'
import {
  type ClusterFacts,
  type ExpressionAllowance,
  requestCostLimit,
  type UserFacts,
} from '../../openapi/index.ts'
import type { ClusterIndex } from './clusterindex.ts'
import type { Failures } from './failures.ts'
import type { ResourcePlan } from './plan.ts'

/** What the requests for one resource of a View have in common. */
export interface ViewSightParts {
  readonly plan: ResourcePlan
  readonly clusters: ClusterIndex
  readonly failures: Failures
}

/** What one request sees of the objects of the source. */
export class ViewSight {
  readonly #parts: ViewSightParts
  readonly #user: UserFacts
  readonly #allowance: ExpressionAllowance = { left: requestCostLimit }

  constructor(parts: ViewSightParts, { name, uid = '', groups, extra = {} }: UserInfo) {
    this.#parts = parts
    this.#user = { name, uid, groups, extra }
  }

  /** Called between the events of a watch, which have a limit of their own each. */
  renew(): void {
    this.#allowance.left = requestCostLimit
  }

  /** The item as the View shows it; undefined for hidden items. Throws 500 when the expressions cost too much. */
  shown(item: Item, cluster: ClusterFacts = this.#parts.clusters.of(item.key.cluster)): Item | undefined {
    return this.#isSelected(item, cluster) ? this.presented(item) : undefined
  }

  /** The item as the View shows it, whether the View selects it or not. */
  presented(item: Item): Item {
    return item
  }

  #isSelected(item: Item, cluster: ClusterFacts): boolean {
    const { plan, failures } = this.#parts
    if (plan.where === undefined) return true
    const result = plan.where.evaluate({ item, cluster, user: this.#user }, this.#allowance)
    if ('value' in result) return result.value === true
    if (result.isOverBudget)
      throw internalError(`the expressions of the View cost too much for one request: ${plan.field}`)
    failures.count(`${plan.field}.where`, result.failure, item)
    return false
  }
}
