import { type CheckedExpr, dottedName } from '../checker/checker.ts'
import type { SchemaDeclaration } from '../schema/schematype.ts'
import {
  type CallExpr,
  type ComprehensionExpr,
  type Expr,
  isBinding,
  type SelectExpr,
} from '../syntax/ast.ts'
import { type EstimatedNode, estimateCall } from './estimatecall.ts'
import {
  type EntrySizes,
  type Estimate,
  type EstimatedVariable,
  type EstimatorState,
  entriesOf,
  estimate,
  nothing,
  pathOf,
  product,
  schemaSize,
  sizeOf,
  sum,
  typeOf,
  union,
  unknown,
  unlimited,
} from './estimatesize.ts'

/**
 * The minimum and maximum cost of an expression for all values of the schema (rules.md 7.38, cel-go's `checker/cost.go`).
 * `root` declares `self` and `oldSelf`.
 */
export function estimateCost(checked: CheckedExpr, root: SchemaDeclaration | undefined): Estimate {
  const state: EstimatorState = {
    checked,
    root,
    paths: new Map(),
    sizes: new Map(),
    entries: new Map(),
    locals: new Map(),
  }
  return cost(state, checked.expr)
}

function cost(state: EstimatorState, expr: Expr): Estimate {
  switch (expr.kind) {
    case 'literal':
      return nothing
    case 'ident':
      state.paths.set(expr, state.locals.get(expr.name)?.path ?? [expr.name])
      return estimate(1)
    case 'select':
      return selectCost(state, expr)
    case 'call':
      return expr.name === 'dyn' ? dynCost(state, expr) : callCost(state, expr)
    case 'list':
      return listCost(state, expr)
    case 'map':
      return mapCost(state, expr)
    case 'struct':
      return sum(estimate(40), ...expr.fields.map(({ value }) => cost(state, value)))
    case 'comprehension':
      return isBinding(expr) ? bindingCost(state, expr) : foldCost(state, expr)
  }
}

function selectCost(state: EstimatorState, expr: SelectExpr): Estimate {
  const { operand, field, test } = expr
  const named = state.checked.names.get(expr)
  if (named !== undefined && dottedName(expr) !== undefined) {
    state.paths.set(expr, [named])
    return estimate(1)
  }
  const base = cost(state, operand)
  if (test) return base
  state.paths.set(expr, [...pathOf(state, operand), field])
  const isStep = ['map', 'struct', 'param'].includes(typeOf(state, operand).kind)
  return isStep ? sum(base, estimate(1)) : base
}

/** `dyn(x)` has the sizes of x. */
function dynCost(state: EstimatorState, expr: CallExpr): Estimate {
  const [arg] = expr.args
  if (arg === undefined) return nothing
  const base = cost(state, arg)
  copySizes(state, expr, arg)
  return sum(estimate(1), base)
}

function copySizes(state: EstimatorState, to: Expr, from: Expr): void {
  const size = sizeOf(state, from)
  const entries = entriesOf(state, from)
  if (size !== undefined) state.sizes.set(to, size)
  if (entries !== undefined) state.entries.set(to, entries)
}

const joinedEntries = (a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined =>
  a === undefined || b === undefined
    ? undefined
    : { isList: a.isList, keys: union(a.keys, b.keys), values: union(a.values, b.values) }

/** The union of the sizes of alternatives. */
const anySize = (sizes: readonly Estimate[]): Estimate =>
  sizes.reduce(union, sizes.length === 0 ? nothing : estimate(unlimited, 0))

function listCost(state: EstimatorState, expr: Extract<Expr, { kind: 'list' }>): Estimate {
  const values = expr.elements.map(({ value }) => value)
  const costs = values.map(value => cost(state, value))
  const sizes = values.map(value => sizeOf(state, value) ?? unknown)
  state.entries.set(expr, { isList: true, keys: estimate(1), values: anySize(sizes) })
  return sum(estimate(10), ...costs)
}

function mapCost(state: EstimatorState, expr: Extract<Expr, { kind: 'map' }>): Estimate {
  const costs = expr.entries.flatMap(({ key, value }) => [cost(state, key), cost(state, value)])
  const sizesOf = (parts: readonly Expr[]): Estimate =>
    anySize(parts.map(part => sizeOf(state, part) ?? unknown))
  state.entries.set(expr, {
    isList: false,
    keys: sizesOf(expr.entries.map(({ key }) => key)),
    values: sizesOf(expr.entries.map(({ value }) => value)),
  })
  return sum(estimate(30), ...costs)
}

function nodeOf(state: EstimatorState, expr: Expr): EstimatedNode {
  const path = pathOf(state, expr)
  const shown = path[0] === '@result' ? [] : path
  const size = sizeOf(state, expr)
  const type = typeOf(state, expr)
  return {
    expr,
    type,
    ...(size === undefined ? {} : { size }),
    itemSize: schemaSize(state.root, shown.length === 0 ? [] : [...shown, '@items']) ?? unknown,
  }
}

function callCost(state: EstimatorState, expr: CallExpr): Estimate {
  const args = expr.args.map(arg => ({ cost: cost(state, arg), node: nodeOf(state, arg) }))
  const overloads = overloadsOf(state, expr)
  const { target } = expr
  const isMember = target !== undefined && !state.checked.names.has(expr)
  const base = isMember ? cost(state, target) : nothing
  if (overloads.length === 0) return base
  const call = {
    name: state.checked.names.get(expr) ?? expr.name,
    ...(isMember ? { target: nodeOf(state, target) } : {}),
    args: args.map(({ node }) => node),
    costs: args.map(arg => arg.cost),
  }
  let total: Estimate | undefined
  let size: Estimate | undefined
  for (const overload of overloads) {
    const estimate = estimateCall({ ...call, overload })
    total = total === undefined ? estimate.cost : union(total, estimate.cost)
    if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
    noteEntries(state, expr, overload)
    size = indexSize(state, expr, overload) ?? size ?? sizeOf(state, expr)
  }
  if (size !== undefined) state.sizes.set(expr, size)
  return sum(base, total ?? nothing)
}

const overloadsOf = ({ checked }: EstimatorState, expr: CallExpr): readonly string[] => {
  if (expr.name === '_&&_' || expr.name === '_||_') return ['logic']
  if (expr.name === '_?._') return ['select_optional_field']
  return (checked.overloads.get(expr) ?? []).map(({ id }) => id)
}

/** Conditionals and additions have the union of the entries of their parts. */
function noteEntries(state: EstimatorState, expr: CallExpr, overload: string): void {
  const [first, second, third] = expr.args
  const parts =
    overload === 'conditional'
      ? [second, third]
      : /^add_(list|string|bytes)$/.test(overload)
        ? [first, second]
        : []
  const [a, b] = parts
  if (a === undefined || b === undefined) return
  const entries = joinedEntries(entriesOf(state, a), entriesOf(state, b))
  if (entries !== undefined) state.entries.set(expr, entries)
}

function indexSize(state: EstimatorState, expr: CallExpr, overload: string): Estimate | undefined {
  const [container] = expr.args
  if (container === undefined || (overload !== 'index_list' && overload !== 'index_map')) return undefined
  state.paths.set(expr, [...pathOf(state, container), overload === 'index_list' ? '@items' : '@values'])
  return entriesOf(state, container)?.values
}

/** Runs with additional local variables. */
function withLocals<T>(
  state: EstimatorState,
  locals: readonly (readonly [string, EstimatedVariable])[],
  run: () => T,
): T {
  const outer = state.locals
  state.locals = new Map([...outer, ...locals])
  const result = run()
  state.locals = outer
  return result
}

const localOf = (state: EstimatorState, expr: Expr): EstimatedVariable => ({
  path: pathOf(state, expr),
  size: sizeOf(state, expr),
  entries: entriesOf(state, expr),
})

function bindingCost(state: EstimatorState, fold: ComprehensionExpr): Estimate {
  const base = sum(cost(state, fold.range), cost(state, fold.init))
  const local = localOf(state, fold.init)
  return withLocals(state, [[fold.accumulator, local]], () => {
    const result = cost(state, fold.result)
    copySizes(state, fold, fold.result)
    return sum(base, result)
  })
}

function foldCost(state: EstimatorState, fold: ComprehensionExpr): Estimate {
  const base = sum(cost(state, fold.range), cost(state, fold.init))
  const accumulator: readonly [string, EstimatedVariable] = [fold.accumulator, localOf(state, fold.init)]
  const loop = withLocals(state, [accumulator, ...variables(state, fold)], () =>
    sum(cost(state, fold.step), cost(state, fold.condition)),
  )
  const result = withLocals(state, [accumulator], () => cost(state, fold.result))
  const turns = sizeOf(state, fold.range) ?? unknown
  noteFoldSize(state, fold, turns)
  return sum(base, result, product(turns, loop))
}

function noteFoldSize(state: EstimatorState, fold: ComprehensionExpr, turns: Estimate): void {
  const size = fold.init.kind === 'literal' ? sizeOf(state, fold.init) : turns
  if (size !== undefined && ['literal', 'list', 'map'].includes(fold.init.kind)) state.sizes.set(fold, size)
  const step = fold.init.kind === 'literal' ? undefined : entriesOf(state, fold.step)
  if (step !== undefined) state.entries.set(fold, step)
}

/** The variables of a comprehension, sized by its range. */
function variables(
  state: EstimatorState,
  { range: expr, variable, variable2 }: ComprehensionExpr,
): readonly (readonly [string, EstimatedVariable])[] {
  const entries = entriesOf(state, expr)
  const isList = entries?.isList ?? typeOf(state, expr).kind === 'list'
  const path = pathOf(state, expr)
  const local = (step: string, size: Estimate | undefined): EstimatedVariable => ({
    path: [...path, step],
    size,
    entries: undefined,
  })
  if (variable2 === undefined)
    return [[variable, isList ? local('@items', entries?.values) : local('@keys', entries?.keys)]]
  return [
    [variable, local(isList ? '@indices' : '@keys', entries?.keys)],
    [variable2, local(isList ? '@items' : '@values', entries?.values)],
  ]
}
