/** Thrown when an evaluation exceeds its limit of cost or work. Expressions cannot catch it. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/**
 * Tracks evaluations. `cost` is the cost of CEL, as Kubernetes counts it. `effort` counts steps of work that this cost
 * leaves out: deep comparison, regular expressions, building long strings. A unit of either takes at most some tens of
 * nanoseconds.
 */
export interface CostTracker {
  cost: number
  readonly limit: number
  readonly effort: Effort
  readonly longMatch: LongMatch | undefined
}

/** Whether a pattern matches somewhere in a text, found beside the evaluation, which is interrupted until then. */
export type LongMatch = (source: string, text: string) => boolean

/** Steps of work that are left for all evaluations of one request together. */
export interface Effort {
  left: number
}

/** The cost limit of one evaluation: `PerCallLimit` of Kubernetes. */
export const perCallLimit = 1_000_000

/** About half a second. */
export const maxEffort = 50_000_000

export const newEffort = (): Effort => ({ left: maxEffort })

/** Adds to the cost. Throws CostExceeded above the limit. */
export function charge(tracker: CostTracker, cost: number): void {
  tracker.cost += cost
  if (tracker.cost > tracker.limit) throw new CostExceeded()
}

export function spend({ effort }: CostTracker, steps: number): void {
  effort.left -= steps
  if (effort.left < 0) throw new CostExceeded()
}

/** The maximum length of a string or bytes that an expression builds. */
const longest = 20_000_000

/** Returns a built string or bytes, and counts the work of building it. */
export function textOf<T extends string | Uint8Array>(text: T, tracker: CostTracker): T {
  willMake(text.length, tracker)
  return text
}

/** Counts the work of building a string of this length. Throws CostExceeded if it would be too long. */
export function willMake(length: number, tracker: CostTracker): void {
  if (length > longest) throw new CostExceeded()
  spend(tracker, length >> 4)
}

/** Counts the work of reading all items of a list or a map. */
export const willRead = (items: number, tracker: CostTracker): void => spend(tracker, items * 2)

/** Steps of one call of a function, which is not interrupted: all items of an object of 1 MB can be compared. */
const mostOfCall = 3_000_000

/** Begins a call. Returns the effort that is kept for later, which the end of the call adds again. */
export function reserve({ effort }: CostTracker): number {
  const rest = Math.max(0, effort.left - mostOfCall)
  effort.left -= rest
  return rest
}
