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

/** No text that an expression makes is longer. */
const longest = 20_000_000

/** A text that was made: making it was work. */
export function textOf<T extends string | Uint8Array>(text: T, tracker: CostTracker): T {
  willMake(text.length, tracker)
  return text
}

/** Throws before a text is made that would be too long. */
export function willMake(length: number, tracker: CostTracker): void {
  if (length > longest) throw new CostExceeded()
  spend(tracker, length >> 4)
}
