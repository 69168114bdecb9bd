import { patternCost } from '../../framework/formats/pattern.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden } from '../../framework/meta/fielderror.ts'

/** What the patterns of one object may cost together; real CRDs stay far below. */
const maxTotal = 2_000_000

/** Walks any JSON value: what is called `pattern` may be something else, and is counted all the same. */
function totalCost(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth === 0) return 0
  const { pattern } = value as { readonly pattern?: unknown }
  const own = typeof pattern === 'string' ? patternCost(pattern) : 0
  return Object.values(value).reduce((sum: number, below) => sum + totalCost(below, depth - 1), own)
}

/** Compiling patterns takes time: refused before it starts when there are too many (for schemas of any shape). */
export const patternCostErrors = (schemas: unknown, path: string): readonly FieldError[] =>
  totalCost(schemas, 500) > maxTotal ? [forbidden(path, 'the regular expressions are too large')] : []
