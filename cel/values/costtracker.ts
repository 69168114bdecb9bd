/** Thrown when an evaluation has cost more than it may; nothing looks past it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/**
 * What evaluations have done. `cost` is in the units of CEL and counted as Kubernetes counts; `work` is in steps of
 * what that does not see: comparing deeply, matching regular expressions, making long texts. One unit of either is some
 * tens of nanoseconds at most.
 */
export interface CostTracker {
  cost: number
  readonly limit: number
  readonly effort: Effort
}

/** Steps left for all evaluations of one request together. */
export interface Effort {
  left: number
}

/** About half a second. */
export const maxEffort = 50_000_000

export const newEffort = (): Effort => ({ left: maxEffort })

/** Throws CostExceeded when that was too much. */
export function charge(tracker: CostTracker, cost: number): void {
  tracker.cost += cost
  if (tracker.cost > tracker.limit) throw new CostExceeded()
}

export function spend({ effort }: CostTracker, steps: number): void {
  effort.left -= steps
  if (effort.left < 0) throw new CostExceeded()
}
