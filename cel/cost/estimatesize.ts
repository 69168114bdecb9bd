import type { Checked } from '../checker/checker.ts'
import { sizeOfValue } from '../library/logic.ts'
import type { Declaration } from '../schema/schematype.ts'
import type { Expr } from '../syntax/ast.ts'
import { type Range, range } from '../values/range.ts'
import { dynType, isOptional, paramOf, type Type } from '../values/type.ts'
import type { Value } from '../values/value.ts'

/** Where a value comes from: `self`, then fields, `@items`, `@values` or `@keys`. */
export type Path = readonly string[]

/** The sizes of what a list or map holds. */
export interface Entries {
  readonly isList: boolean
  readonly keys: Range
  readonly values: Range
}

export interface Local {
  readonly path: Path | undefined
  readonly size: Range | undefined
  readonly entries: Entries | undefined
}

export interface State {
  readonly checked: Checked
  readonly root: Declaration | undefined
  readonly paths: Map<Expr, Path>
  readonly sizes: Map<Expr, Range>
  readonly entries: Map<Expr, Entries>
  locals: ReadonlyMap<string, Local>
}

export const typeOf = ({ checked }: State, expr: Expr): Type => checked.types.get(expr) ?? dynType

export function pathOf(state: State, expr: Expr): Path {
  const local = expr.kind === 'ident' ? state.locals.get(expr.name)?.path : undefined
  return local ?? state.paths.get(expr) ?? []
}

const isScalar = (type: Type): boolean =>
  ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind) ||
  (isOptional(type) && isScalar(paramOf(type)))

/** The size of a part, from itself, from the schema, or from its type; undefined when nothing tells. */
export function sizeOf(state: State, expr: Expr): Range | undefined {
  const known = state.sizes.get(expr) ?? literalSize(expr)
  if (known !== undefined) return known
  const declared = schemaSize(state.root, pathOf(state, expr))
  if (declared !== undefined) {
    state.sizes.set(expr, declared)
    return declared
  }
  if (isScalar(typeOf(state, expr))) return range(1)
  return expr.kind === 'ident' ? state.locals.get(expr.name)?.size : undefined
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === 'literal') return range(valueSize(expr.value))
  if (expr.kind === 'list') return range(expr.elements.length)
  return expr.kind === 'map' ? range(expr.entries.length) : undefined
}

const valueSize = (value: Value): number => sizeOfValue(value) ?? 1

const keys: Declaration = {
  type: { kind: 'string', name: 'string', params: [] },
  adapt: () => null,
  maxElements: 0,
  minSize: 2,
}

/** At most as large as the schema at the end of the path allows. */
export function schemaSize(root: Declaration | undefined, path: Path): Range | undefined {
  if (path.length === 0 || root === undefined) return undefined
  let node: Declaration | undefined = root
  for (const step of path.slice(1)) {
    if (step === '@items' || step === '@values') node = node.items
    else if (step === '@keys') node = node.items !== undefined && node.type.kind === 'map' ? keys : undefined
    else node = node.fields?.get(step)
    if (node === undefined) return undefined
  }
  return range(0, node.maxElements)
}

export const entriesOf = (state: State, expr: Expr): Entries | undefined =>
  state.entries.get(expr) ?? (expr.kind === 'ident' ? state.locals.get(expr.name)?.entries : undefined)
