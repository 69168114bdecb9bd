import type { CelValue } from '../values/value.ts'
import { accumulator, type ComprehensionExpr, type Expr, type SelectExpr } from './ast.ts'

/** An error in the arguments of a macro. */
export interface MacroProblem {
  readonly at: number
  readonly problem: string
}

/** `at` is the offset of the call, also for the expanded nodes. */
type Expand = (at: number, target: Expr, args: readonly Expr[]) => Expr | MacroProblem

const literal = (at: number, value: CelValue): Expr => ({ kind: 'literal', at, value })
const ident = (at: number, name: string): Expr => ({ kind: 'ident', at, name })
const accu = (at: number): Expr => ident(at, accumulator)
const call = (at: number, name: string, ...args: readonly Expr[]): Expr => ({ kind: 'call', at, name, args })
const listWith = (at: number, ...values: readonly Expr[]): Expr => ({
  kind: 'list',
  at,
  elements: values.map(value => ({ value, optional: false })),
})

type Loop = Pick<ComprehensionExpr, 'init' | 'condition' | 'step' | 'result'>

const all = (at: number, predicate: Expr): Loop => ({
  init: literal(at, true),
  condition: call(at, '@not_strictly_false', accu(at)),
  step: call(at, '_&&_', accu(at), predicate),
  result: accu(at),
})

const exists = (at: number, predicate: Expr): Loop => ({
  init: literal(at, false),
  condition: call(at, '@not_strictly_false', call(at, '!_', accu(at))),
  step: call(at, '_||_', accu(at), predicate),
  result: accu(at),
})

const existsOne = (at: number, predicate: Expr): Loop => ({
  init: literal(at, 0),
  condition: literal(at, true),
  step: call(at, '_?_:_', predicate, call(at, '_+_', accu(at), literal(at, 1)), accu(at)),
  result: call(at, '_==_', accu(at), literal(at, 1)),
})

/** Collects with `step`, only where the filter is true. */
const collect = (at: number, init: Expr, step: Expr, filter?: Expr): Loop => ({
  init,
  condition: literal(at, true),
  step: filter === undefined ? step : call(at, '_?_:_', filter, step, accu(at)),
  result: accu(at),
})

const append = (at: number, item: Expr, filter?: Expr): Loop =>
  collect(at, listWith(at), call(at, '_+_', accu(at), listWith(at, item)), filter)

const overwrites = 'iteration variable overwrites accumulator variable'

/** The names of variables, or an error. */
function namesOf(variables: readonly Expr[], wrong: string): readonly string[] | MacroProblem {
  for (const variable of variables) {
    if (variable.kind !== 'ident') return { at: variable.at, problem: wrong }
    if (variable.name === accumulator || variable.name === '__result__')
      return { at: variable.at, problem: overwrites }
  }
  const names = variables.map(variable => (variable.kind === 'ident' ? variable.name : ''))
  const [first, second] = names
  return first === second && second !== undefined
    ? { at: variables[1]?.at ?? 0, problem: `duplicate variable name: ${second}` }
    : names
}

const isProblem = (names: readonly string[] | MacroProblem): names is MacroProblem => 'problem' in names

/** A macro with one variable; `loop` gets the arguments after it. */
const oneVariable =
  (wrong: string, loop: (at: number, args: readonly Expr[], variable: Expr) => Loop): Expand =>
  (at, range, [variable = range, ...args]) => {
    const names = namesOf([variable], wrong)
    if (isProblem(names)) return names
    return {
      kind: 'comprehension',
      at,
      range,
      variable: names[0] ?? '',
      accumulator,
      ...loop(at, args, variable),
    }
  }

/** A macro with two variables. */
const twoVariables =
  (loop: (at: number, args: readonly Expr[], variable: Expr) => Loop): Expand =>
  (at, range, [first = range, second = range, ...args]) => {
    const names = namesOf([first, second], 'argument must be a simple name')
    if (isProblem(names)) return names
    const [variable = '', variable2 = ''] = names
    return { kind: 'comprehension', at, range, variable, variable2, accumulator, ...loop(at, args, first) }
  }

const simpleName = 'argument must be a simple name'
const identifier = 'argument is not an identifier'

const quantifier =
  (loop: (at: number, predicate: Expr) => Loop) =>
  (at: number, [predicate = literal(at, true)]: readonly Expr[]): Loop =>
    loop(at, predicate)

/** `(transform)` or `(filter, transform)`. */
const transformed =
  (loop: (at: number, transform: Expr, filter?: Expr) => Loop) =>
  (at: number, args: readonly Expr[]): Loop => {
    const [first = literal(at, null), second] = args
    return second === undefined ? loop(at, first) : loop(at, second, first)
  }

const emptyMap = (at: number): Expr => ({ kind: 'map', at, entries: [] })

const mapMacro = oneVariable(identifier, transformed(append))

const transformMap = twoVariables((at, args, variable) =>
  transformed((at, transform, filter) => {
    const step = call(at, 'cel.@mapInsert', accu(at), ident(at, nameOf(variable)), transform)
    return collect(at, emptyMap(at), step, filter)
  })(at, args),
)

const transformMapEntry = twoVariables((at, args) =>
  transformed((at, transform, filter) =>
    collect(at, emptyMap(at), call(at, 'cel.@mapInsert', accu(at), transform), filter),
  )(at, args),
)

const nameOf = (expr: Expr): string => (expr.kind === 'ident' ? expr.name : '')

const member = (at: number, name: string, target: Expr, ...args: readonly Expr[]): Expr => ({
  kind: 'call',
  at,
  name,
  target,
  args,
})

/** Binds a value to a name within an expression. */
const binding = (at: number, name: string, value: Expr, result: Expr): Expr => ({
  kind: 'comprehension',
  at,
  range: listWith(at),
  variable: '#unused',
  accumulator: name,
  init: value,
  condition: literal(at, false),
  step: ident(at, name),
  result,
})

const optionalMap =
  (macro: string, wrap: (at: number, value: Expr) => Expr): Expand =>
  (at, target, [variable = target, mapped = target]) => {
    if (variable.kind !== 'ident')
      return { at: variable.at, problem: `${macro}() variable name must be a simple identifier` }
    const bound = binding(at, variable.name, member(at, 'value', target), mapped)
    return call(at, '_?_:_', member(at, 'hasValue', target), wrap(at, bound), call(at, 'optional.none'))
  }

const sortInput = '@__sortBy_input__'

const sortBy: Expand = (at, target, args) => {
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
    const where = 'a list, identifier, comprehension, call or select expression'
    return { at: target.at, problem: `sortBy can only be applied to ${where}` }
  }
  const keys = mapMacro(at, ident(at, sortInput), args)
  if ('problem' in keys) return keys
  const sorted = member(at, '@sortByAssociatedKeys', ident(at, sortInput), keys)
  return binding(at, sortInput, target, sorted)
}

/** Receiver macros by name and number of arguments. */
const macros: Readonly<Record<string, Expand>> = {
  'all/2': oneVariable(simpleName, quantifier(all)),
  'exists/2': oneVariable(simpleName, quantifier(exists)),
  'exists_one/2': oneVariable(simpleName, quantifier(existsOne)),
  'existsOne/2': oneVariable(simpleName, quantifier(existsOne)),
  'map/2': mapMacro,
  'map/3': mapMacro,
  'filter/2': oneVariable(identifier, (at, [filter], variable) => append(at, variable, filter)),
  'all/3': twoVariables(quantifier(all)),
  'exists/3': twoVariables(quantifier(exists)),
  'exists_one/3': twoVariables(quantifier(existsOne)),
  'existsOne/3': twoVariables(quantifier(existsOne)),
  'transformList/3': twoVariables(transformed(append)),
  'transformList/4': twoVariables(transformed(append)),
  'transformMap/3': transformMap,
  'transformMap/4': transformMap,
  'transformMapEntry/3': transformMapEntry,
  'transformMapEntry/4': transformMapEntry,
  'optMap/2': optionalMap('optMap', (at, value) => call(at, 'optional.of', value)),
  'optFlatMap/2': optionalMap('optFlatMap', (_at, value) => value),
  'sortBy/2': sortBy,
}

/** The expansion of a member call; undefined if it is not a macro. */
export function expandMember(
  at: number,
  name: string,
  target: Expr,
  args: readonly Expr[],
): Expr | MacroProblem | undefined {
  const key = `${name}/${args.length}`
  return Object.hasOwn(macros, key) ? macros[key]?.(at, target, args) : undefined
}

/** `has(a.b)` is the only global macro. */
export function expandGlobal(
  at: number,
  name: string,
  args: readonly Expr[],
): Expr | MacroProblem | undefined {
  const [argument] = args
  if (name !== 'has' || args.length !== 1 || argument === undefined) return undefined
  if (argument.kind !== 'select') return { at: argument.at, problem: 'invalid argument to has() macro' }
  const test: SelectExpr = { ...argument, at, test: true }
  return test
}
