import type { CheckedExpr } from '../checker/checker.ts'
import { sizeOfValue } from '../library/operators.ts'
import type { SchemaDeclaration } from '../schema/schematype.ts'
import type { Expr } from '../syntax/ast.ts'
import { type CelType, dynType, isOptional, paramOf, stringType } from '../values/type.ts'
import type { CelValue } from '../values/value.ts'

/** The schema path of a value: `self`, then fields, `@items`, `@values` or `@keys`. */
export type ValuePath = readonly string[]

/** The sizes of the entries of a list or map. */
export interface EntrySizes {
  readonly isList: boolean
  readonly keys: Estimate
  readonly values: Estimate
}

export interface EstimatedVariable {
  readonly path: ValuePath | undefined
  readonly size: Estimate | undefined
  readonly entries: EntrySizes | undefined
}

export interface EstimatorState {
  readonly checked: CheckedExpr
  readonly root: SchemaDeclaration | undefined
  readonly paths: Map<Expr, ValuePath>
  readonly sizes: Map<Expr, Estimate>
  readonly entries: Map<Expr, EntrySizes>
  locals: ReadonlyMap<string, EstimatedVariable>
}

export const typeOf = ({ checked }: EstimatorState, expr: Expr): CelType => checked.types.get(expr) ?? dynType

export function pathOf(state: EstimatorState, expr: Expr): ValuePath {
  const local = expr.kind === 'ident' ? state.locals.get(expr.name)?.path : undefined
  return local ?? state.paths.get(expr) ?? []
}

const isScalar = (type: CelType): boolean =>
  ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind) ||
  (isOptional(type) && isScalar(paramOf(type)))

/** The size of an expression: computed, from the schema, or from its type; undefined if unknown. */
export function sizeOf(state: EstimatorState, expr: Expr): Estimate | undefined {
  const known = state.sizes.get(expr) ?? literalSize(expr)
  if (known !== undefined) return known
  const declared = schemaSize(state.root, pathOf(state, expr))
  if (declared !== undefined) {
    state.sizes.set(expr, declared)
    return declared
  }
  if (isScalar(typeOf(state, expr))) return estimate(1)
  return expr.kind === 'ident' ? state.locals.get(expr.name)?.size : undefined
}

function literalSize(expr: Expr): Estimate | undefined {
  if (expr.kind === 'literal') return estimate(valueSize(expr.value))
  if (expr.kind === 'list') return estimate(expr.elements.length)
  return expr.kind === 'map' ? estimate(expr.entries.length) : undefined
}

const valueSize = (value: CelValue): number => sizeOfValue(value) ?? 1

const keys: SchemaDeclaration = {
  type: stringType,
  adapt: () => null,
  maxElements: 0,
  minSize: 2,
}

/** The size that the schema at the path allows. */
export function schemaSize(root: SchemaDeclaration | undefined, path: ValuePath): Estimate | undefined {
  if (path.length === 0 || root === undefined) return undefined
  let node: SchemaDeclaration | undefined = root
  for (const step of path.slice(1)) {
    if (step === '@items' || step === '@values') node = node.items
    else if (step === '@keys') node = node.items !== undefined && node.type.kind === 'map' ? keys : undefined
    else node = node.fields?.get(step)
    if (node === undefined) return undefined
  }
  return estimate(0, node.maxElements)
}

export const entriesOf = (state: EstimatorState, expr: Expr): EntrySizes | undefined =>
  state.entries.get(expr) ?? (expr.kind === 'ident' ? state.locals.get(expr.name)?.entries : undefined)

/** An estimate of a size or a cost, as cel-go's SizeEstimate and CostEstimate. Capped at 2^64. */
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

/** The smallest estimate that contains both. */
export const union = (a: Estimate, b: Estimate): Estimate =>
  estimate(Math.min(a.min, b.min), Math.max(a.max, b.max))

/** Multiplied by a factor and rounded up, with the same floating-point results as Go. */
export const scaled = ({ min, max }: Estimate, factor: number): Estimate =>
  estimate(capped(Math.ceil(min * factor)), capped(Math.ceil(max * factor)))
