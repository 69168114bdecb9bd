/** At least and at most: of a size or a cost. Beyond 64 bits there is only 2^64. */
export interface Range {
  readonly min: number
  readonly max: number
}

const limit = 2 ** 64

const capped = (count: number): number => Math.min(count, limit)

export const range = (min: number, max = min): Range => ({ min, max })
export const nothing = range(0)
export const unknown = range(0, limit)
export const unlimited = limit

export const sum = (...ranges: readonly Range[]): Range =>
  ranges.reduce((a, b) => range(capped(a.min + b.min), capped(a.max + b.max)), nothing)

export const product = (a: Range, b: Range): Range => range(capped(a.min * b.min), capped(a.max * b.max))

/** What contains both. */
export const union = (a: Range, b: Range): Range => range(Math.min(a.min, b.min), Math.max(a.max, b.max))

/** Times a factor, rounded up; with the same floating-point numbers as Go. */
export const scaled = ({ min, max }: Range, factor: number): Range =>
  range(capped(Math.ceil(min * factor)), capped(Math.ceil(max * factor)))
