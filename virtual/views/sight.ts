import { knownUser } from '../../authz/index.ts'
import type { Item, UserInfo } from '../../framework/index.ts'
import {
  type ClusterFacts,
  type ExpressionAllowance,
  requestAllowance,
  type UserFacts,
} from '../../openapi/index.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import type { Failures } from './failures.ts'
import type { ResourcePlan } from './plan.ts'
import type { Presenter } from './presenter.ts'

/** What the requests for one resource of a View have in common. */
export interface ViewSightParts {
  readonly plan: ResourcePlan
  readonly clusters: ClusterIndex
  readonly failures: Failures
  readonly presenter: Presenter
  /** The logical cluster of the View, in which its expressions were written. */
  readonly owner: string
  /** Whether an object with these labels can be selected by the expression. */
  readonly labelled: (labels: Item['meta']['labels']) => boolean
}

/** What one request sees of the objects of the source. */
export class ViewSight {
  readonly #parts: ViewSightParts
  readonly #user: UserFacts
  /** What its expressions may use; a watch renews it between batches. */
  readonly allowance: ExpressionAllowance = requestAllowance()

  constructor(parts: ViewSightParts, user: UserInfo) {
    const { name, uid = '', groups, extra = {} } = knownUser(user, parts.owner)
    this.#parts = parts
    this.#user = { name, uid, groups, extra }
  }

  /** The item as the View shows it; undefined for hidden items. Throws 500 when the expressions cost too much. */
  shown(item: Item, cluster: ClusterFacts = this.#parts.clusters.of(item.key.cluster)): Item | undefined {
    return this.isSelected(item, cluster) ? this.presented(item, cluster) : undefined
  }

  /** Whether the View shows the item. Masking it, which takes long for a large one, is not needed to know. */
  shows(item: Item): boolean {
    if (!this.isSelected(item)) return false
    return this.#parts.plan.annotate.length === 0 || this.presented(item) !== undefined
  }

  /** The item as the View shows it, whether the View selects it or not; undefined when an annotation fails. */
  presented(item: Item, cluster: ClusterFacts = this.#parts.clusters.of(item.key.cluster)): Item | undefined {
    return this.#parts.presenter.presented(item, { cluster, user: this.#user, allowance: this.allowance })
  }

  /** What a write returns: also when an annotation fails for the new state. */
  written(item: Item): Item {
    return this.presented(item) ?? this.#parts.presenter.masked(item)
  }

  isSelected(item: Item, cluster: ClusterFacts = this.#parts.clusters.of(item.key.cluster)): boolean {
    const { plan, failures } = this.#parts
    if (plan.where === undefined) return true
    // As in lists and watches, where the source selects: an object without the label is not a failure.
    if (!this.#parts.labelled(item.meta.labels)) return false
    const result = plan.where.evaluate({ item, cluster, user: this.#user }, this.allowance)
    if ('value' in result) return result.value === true
    failures.refused(`${plan.field}.where`, result, item)
    return false
  }
}
