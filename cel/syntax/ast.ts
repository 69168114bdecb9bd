import type { Value } from '../values/value.ts'

/** A node of a parsed expression. `at` is its offset in the source, where errors point. */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Fold

interface Node {
  readonly at: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Node {
  readonly kind: 'ident'
  readonly name: string
}

/** `operand.field`, or `has(operand.field)` when `test`. */
export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  readonly test: boolean
}

/** Operators are calls of functions such as `_+_`. */
export interface Call extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target?: Expr
  readonly args: readonly Expr[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly elements: readonly Element[]
}

/** `?value` when optional. */
export interface Element {
  readonly value: Expr
  readonly optional: boolean
}

export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface MapEntry extends Node {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly type: string
  readonly fields: readonly StructField[]
}

export interface StructField extends Node {
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/** What macros such as `all` and `map` become: a loop over a list or map with one accumulated value. */
export interface Fold extends Node {
  readonly kind: 'fold'
  readonly range: Expr
  readonly variable: string
  /** With two variables: index and item, or key and value. */
  readonly variable2?: string
  readonly accumulator: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** The name of the accumulator of all macros; no expression can spell it. */
export const accumulator = '@result'

/** A fold over nothing, which only gives a value a name. */
export const isBinding = (fold: Fold): boolean =>
  fold.range.kind === 'list' &&
  fold.range.elements.length === 0 &&
  fold.condition.kind === 'literal' &&
  fold.condition.value === false &&
  fold.accumulator !== '__result__'
