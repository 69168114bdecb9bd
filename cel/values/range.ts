/** At least and at most: of a size or a cost. Beyond 64 bits there is only 2^64. */
export interface Estimate {
  readonly min: number
  readonly max: number
}

const limit = 2 ** 64

const capped = (count: number): number => Math.min(count, limit)

export const estimate = (min: number, max = min): Estimate => ({ min, max })
export const nothing = estimate(0)
export const unknown = estimate(0, limit)
export const unlimited = limit

export const sum = (...ranges: readonly Estimate[]): Estimate =>
  ranges.reduce((a, b) => estimate(capped(a.min + b.min), capped(a.max + b.max)), nothing)

export const product = (a: Estimate, b: Estimate): Estimate =>
  estimate(capped(a.min * b.min), capped(a.max * b.max))

/** What contains both. */
export const union = (a: Estimate, b: Estimate): Estimate =>
  estimate(Math.min(a.min, b.min), Math.max(a.max, b.max))

/** Times a factor, rounded up; with the same floating-point numbers as Go. */
export const scaled = ({ min, max }: Estimate, factor: number): Estimate =>
  estimate(capped(Math.ceil(min * factor)), capped(Math.ceil(max * factor)))
