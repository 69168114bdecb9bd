import { compilePattern } from '../../framework/formats/pattern.ts'
import { type CallCost, callCost, equalityCost, isCostOfResult } from '../cost/cost.ts'
import type { CallExpr } from '../syntax/ast.ts'
import { equalValues } from '../values/compare.ts'
import { charge, reserve, spend } from '../values/costtracker.ts'
import type { Overload } from '../values/declaration.ts'
import { isOfType } from '../values/kind.ts'
import {
  type CelError,
  type CelValue,
  Double,
  isList,
  itemsOf,
  noSuchOverload,
  Optional,
} from '../values/value.ts'
import {
  constantOf,
  type Eval,
  type ExecutionFrame,
  type Interpretable,
  isError,
  newExecutionFrame,
  type Planner,
  ProgramProblem,
} from './plan.ts'

const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
)

/** Functions whose second argument is a regular expression. */
const withPattern: ReadonlySet<string> = new Set(['matches', 'find', 'findAll'])

/** Plans a function call. Operators that do not evaluate all arguments are in `lazy`. */
export function planCall(plan: Planner, call: CallExpr): Interpretable {
  const name = plan.checked.names.get(call) ?? call.name.replace(/^\./, '')
  const isQualified = plan.checked.names.has(call)
  const args = call.target === undefined || isQualified ? call.args : [call.target, ...call.args]
  const planned = args.map(arg => plan.plan(arg))
  const own = lazy[name]?.(planned)
  if (own !== undefined) return { run: own }
  const overloads = plan.checked.overloads.get(call) ?? []
  if (name === '@in') {
    const membership = setMembership(overloads, planned)
    if (membership !== undefined) return membership
  }
  if (withPattern.has(name)) checkPattern(planned[1]?.constant)
  const cost = callCost(name, overloads.length === 1 ? overloads[0]?.id : undefined)
  const run = strict(planned, cost, (args, frame) => limited(overloads, args, frame))
  return conversions.has(name) && planned.length === 1 && planned[0]?.constant !== undefined
    ? folded(run)
    : { run }
}

/** Throws a ProgramProblem for an invalid constant pattern. */
function checkPattern(pattern: CelValue | undefined): void {
  const compiled = typeof pattern === 'string' ? compilePattern(pattern) : undefined
  if (typeof compiled === 'string') throw new ProgramProblem(compiled)
}

/** Evaluates the conversion of a constant when it is planned, at no cost. */
function folded(run: Eval): Interpretable {
  const value = run(newExecutionFrame([], 1_000_000, { left: 1_000_000 }))
  if (isError(value)) throw new ProgramProblem(value.message)
  return constantOf(value)
}

/** A call that evaluates all arguments. Its cost is charged even if one is an error, and before the work is done. */
function strict(
  planned: readonly Interpretable[],
  cost: CallCost,
  call: (args: readonly CelValue[], frame: ExecutionFrame) => CelValue,
): Eval {
  const runs = planned.map(({ run }) => run)
  const isCharged = !isCostOfResult(cost)
  return kept(frame => {
    const args: CelValue[] = []
    let error: CelError | undefined
    for (const run of runs) {
      const value = run(frame)
      if (typeof value === 'object') error ??= isError(value) ? value : undefined
      else if (typeof value === 'string' && value.length > 64) spend(frame, value.length >> 3)
      args.push(value)
    }
    if (isCharged) charge(frame, cost(args, null, frame))
    const result = error ?? call(args, frame)
    if (!isCharged) charge(frame, cost(args, result, frame))
    return result
  })
}

/** Has the kept result when the evaluation begins again. */
const kept =
  (run: Eval): Eval =>
  frame =>
    frame.replay === undefined ? run(frame) : frame.replay.result(run, frame, run)

function dispatch(
  overloads: readonly Overload[],
  args: readonly CelValue[],
  frame: ExecutionFrame,
): CelValue {
  for (const { params, run } of overloads)
    if (params.every((type, i) => isOfType(args[i] ?? null, type))) return run(args, frame)
  return noSuchOverload
}

/** With the limit of work of one call. */
function limited(overloads: readonly Overload[], args: readonly CelValue[], frame: ExecutionFrame): CelValue {
  const rest = reserve(frame)
  try {
    return dispatch(overloads, args, frame)
  } finally {
    frame.effort.left += rest
  }
}

function areEqual(x: CelValue, y: CelValue, frame: ExecutionFrame): boolean {
  if (typeof x !== 'object' || typeof y !== 'object') return equalValues(x, y, frame)
  const rest = reserve(frame)
  try {
    return equalValues(x, y, frame)
  } finally {
    frame.effort.left += rest
  }
}

type Lazy = (args: readonly Interpretable[]) => Eval | undefined

const never: Eval = () => noSuchOverload

/** && stops at false, || at true. An error is the result only if neither operand stops. */
const logic =
  (stop: boolean): Lazy =>
  ([left, right]) => {
    const [a, b] = [left?.run ?? never, right?.run ?? never]
    return frame => {
      const first = a(frame)
      if (first === stop) return stop
      const second = b(frame)
      if (second === stop) return stop
      if (typeof first !== 'boolean') return isError(first) ? first : noSuchOverload
      if (typeof second !== 'boolean') return isError(second) ? second : noSuchOverload
      return !stop
    }
  }

const equality =
  (equal: boolean): Lazy =>
  ([left, right]) => {
    const [a, b] = [left?.run ?? never, right?.run ?? never]
    return kept(frame => {
      const [x, y] = [a(frame), b(frame)]
      charge(frame, equalityCost(x, y))
      if (isError(x)) return x
      return isError(y) ? y : areEqual(x, y, frame) === equal
    })
  }

const notStrictlyFalse: Lazy = ([planned]) => {
  const run = planned?.run ?? never
  return frame => {
    const value = run(frame)
    charge(frame, 1)
    return value !== false
  }
}

/** The second argument is evaluated only if the first is optional.none(). */
const alternative =
  (found: (optional: Optional) => CelValue): Lazy =>
  ([left, right]) => {
    const [a, b] = [left?.run ?? never, right?.run ?? never]
    return frame => {
      const value = a(frame)
      if (isError(value)) return value
      if (!(value instanceof Optional)) return noSuchOverload
      return value.value === undefined ? b(frame) : found(value)
    }
  }

const lazy: Readonly<Record<string, Lazy>> = {
  '_&&_': logic(false),
  '_||_': logic(true),
  '_==_': equality(true),
  '_!=_': equality(false),
  '@not_strictly_false': notStrictlyFalse,
  or: alternative(optional => optional),
  orValue: alternative(optional => optional.value ?? null),
}

/** Membership in a constant list of primitives costs nothing, because it is one lookup. */
function setMembership(
  overloads: readonly Overload[],
  [value, list]: readonly Interpretable[],
): Interpretable | undefined {
  const constant = list?.constant
  if (overloads.length !== 1 || overloads[0]?.id !== 'in_list') return undefined
  if (constant === undefined || !isList(constant) || value === undefined) return undefined
  const items = [...itemsOf(constant)]
  if (items.length === 0) return constantOf(false)
  const known = new Set(items.map(primitiveKey))
  if (known.has(undefined)) return undefined
  const { run } = value
  return {
    run: frame => {
      const wanted = run(frame)
      return isError(wanted) ? wanted : known.has(primitiveKey(wanted))
    },
  }
}

/** Equal primitives have equal keys; undefined for other values. */
function primitiveKey(value: CelValue): string | undefined {
  if (value instanceof Double) return `number:${value.value}`
  switch (typeof value) {
    case 'string':
      return `string:${value}`
    case 'number':
    case 'bigint':
      return `number:${value}`
    case 'boolean':
      return `boolean:${value}`
    default:
      return value === null ? 'null' : undefined
  }
}
