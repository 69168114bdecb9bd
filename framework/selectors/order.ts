/** A value by which objects are ordered; null: there is none, or it is not a finite number. */
export type OrderValue = string | number | boolean | null

/** The place of an object in an ordered list. */
export interface OrderPosition {
  readonly value: OrderValue
  /** Decides among equal values. */
  readonly id: readonly string[]
}

/** The annotation with the `OrderPosition` as JSON, by which a front proxy merges the ordered lists of several shards. */
export const positionAnnotation = 'query.oriel.dev/position'

/** `sign`: -1 for descending values; ids are always ascending. */
export const comparePositions = (a: OrderPosition, b: OrderPosition, sign: 1 | -1): number =>
  compareValues(a.value, b.value, sign) || compareTexts(a.id, b.id)

const rank: Readonly<Record<string, number>> = { number: 0, string: 1, boolean: 2, object: 3 }

/** Numbers before texts before Booleans; null is last in both directions. */
function compareValues(a: OrderValue, b: OrderValue, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const ranks = (rank[typeof a] ?? 0) - (rank[typeof b] ?? 0)
  if (ranks !== 0) return sign * ranks
  return a === b ? 0 : sign * (a < b ? -1 : 1)
}

/** Compares lists of texts from the first on. */
export function compareTexts(a: readonly string[], b: readonly string[]): number {
  for (const [i, text] of a.entries()) {
    const other = b[i] ?? ''
    if (text !== other) return text < other ? -1 : 1
  }
  return 0
}

/** The expression and the direction of `orderBy`, for example `object.spec.size desc`. */
export const orderIn = (orderBy: string): { readonly expression: string; readonly sign: 1 | -1 } => ({
  expression: orderBy.replace(/\s+(?:asc|desc)\s*$/, ''),
  sign: /\s+desc\s*$/.test(orderBy) ? -1 : 1,
})
