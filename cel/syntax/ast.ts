import type { CelValue } from '../values/value.ts'

/** A node of a parsed expression. `at` is its offset in the source, for errors. */
export type Expr =
  | LiteralExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr

interface AstNode {
  readonly at: number
}

export interface LiteralExpr extends AstNode {
  readonly kind: 'literal'
  readonly value: CelValue
}

export interface IdentExpr extends AstNode {
  readonly kind: 'ident'
  readonly name: string
}

/** `operand.field`, or `has(operand.field)` when `test`. */
export interface SelectExpr extends AstNode {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  readonly test: boolean
}

/** Operators are calls of functions such as `_+_`. */
export interface CallExpr extends AstNode {
  readonly kind: 'call'
  readonly name: string
  readonly target?: Expr
  readonly args: readonly Expr[]
}

export interface ListExpr extends AstNode {
  readonly kind: 'list'
  readonly elements: readonly ListElement[]
}

/** `?value` when optional. */
export interface ListElement {
  readonly value: Expr
  readonly optional: boolean
}

export interface MapExpr extends AstNode {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface MapEntry extends AstNode {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface StructExpr extends AstNode {
  readonly kind: 'struct'
  readonly type: string
  readonly fields: readonly StructField[]
}

export interface StructField extends AstNode {
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/** A comprehension, to which macros such as `all` and `map` expand: a loop over a list or map with an accumulator. */
export interface ComprehensionExpr extends AstNode {
  readonly kind: 'comprehension'
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

/** The name of the accumulator of all macros, which is not an identifier. */
export const accumulator = '@result'

/** A comprehension over an empty list, which only binds a value to a name (`cel.bind`). */
export const isBinding = (fold: ComprehensionExpr): boolean =>
  fold.range.kind === 'list' &&
  fold.range.elements.length === 0 &&
  fold.condition.kind === 'literal' &&
  fold.condition.value === false &&
  fold.accumulator !== '__result__'
