import type { CallExpr, Expr, IdentExpr, SelectExpr } from '../syntax/ast.ts'
import { charge } from '../values/costtracker.ts'
import {
  CelError,
  type CelValue,
  Double,
  isList,
  isMap,
  itemAt,
  noSuchOverload,
  Optional,
  StructValue,
  sizeOf,
  TypeValue,
  Uint,
} from '../values/value.ts'
import { branch, constantOf, type Eval, type Interpretable, isError, type Planner, slotOf } from './plan.ts'

/**
 * Names, fields and items are attributes: a chain `a.b[0].c` costs 1, and 1 for each step. Each step adds its cost, and
 * the evaluation of the whole chain adds 1.
 */
export const isAttribute = (plan: Planner, expr: Expr): boolean => {
  if (plan.checked.names.get(expr)?.startsWith('type ') === true) return false
  if (expr.kind === 'ident' || expr.kind === 'select') return true
  return expr.kind === 'call' && ['_[_]', '_[?_]', '_?._', '_?_:_'].includes(expr.name)
}

/** Plans an attribute, with the cost of its chain. Conditionals and presence tests cost nothing themselves. */
export function planAttribute(plan: Planner, expr: IdentExpr | SelectExpr | CallExpr): Interpretable {
  const named = plan.checked.names.get(expr)
  if (named?.startsWith('type ')) return constantOf(new TypeValue(named.slice('type '.length)))
  const run = bare(plan, expr)
  if (isFree(expr)) return { run }
  return {
    run: frame => {
      const value = run(frame)
      charge(frame, 1)
      return value
    },
  }
}

/** Presence tests are free, and so are chains that begin with a conditional. */
function isFree(expr: Expr): boolean {
  if (expr.kind === 'select') return expr.test || isFree(expr.operand)
  if (expr.kind !== 'call') return false
  if (expr.name === '_?_:_') return true
  const [operand] = expr.args
  return ['_[_]', '_[?_]', '_?._'].includes(expr.name) && operand !== undefined && isFree(operand)
}

/** Evaluates an attribute without the cost of its chain, and any other expression as usual. */
export function bare(plan: Planner, expr: Expr): Eval {
  if (!isAttribute(plan, expr)) return plan.plan(expr).run
  if (expr.kind === 'ident') return variable(plan, plan.checked.names.get(expr) ?? expr.name)
  if (expr.kind === 'select') {
    const named = plan.checked.names.get(expr)
    return named === undefined ? select(plan, expr) : variable(plan, named)
  }
  if (expr.kind !== 'call') return plan.plan(expr).run
  const [first, second, third] = expr.args
  if (first === undefined || second === undefined) return () => noSuchOverload
  if (expr.name === '_?_:_' && third !== undefined)
    return branch(plan.plan(first).run, bare(plan, second), bare(plan, third))
  if (expr.name === '_?._') return optionalSelect(plan, first, second)
  return index(plan, [first, second], expr.name === '_[?_]')
}

function variable(plan: Planner, name: string): Eval {
  const slot = slotOf(plan, name)
  return ({ slots }) => {
    const value = slots[slot]
    return value === undefined ? new CelError(`no such attribute(s): ${name}`) : value
  }
}

function select(plan: Planner, { operand, field, test }: SelectExpr): Eval {
  const target = bare(plan, operand)
  if (test) return presence(target, field)
  const missing = new CelError(`no such key: ${field}`)
  return frame => {
    const value = target(frame)
    if (isError(value)) return value
    if (value instanceof Optional) return ifPresent(frame, value, of => member(of, field))
    charge(frame, 1)
    return member(value, field) ?? missing
  }
}

function member(value: CelValue, field: string): CelValue | undefined {
  if (value instanceof StructValue) return value.fields.get(field)
  return isMap(value) ? value.get(field) : undefined
}

function presence(target: Eval, field: string): Eval {
  return frame => {
    const value = target(frame)
    if (isError(value)) return value
    charge(frame, 1)
    const of = value instanceof Optional ? value.value : value
    return of !== undefined && member(of, field) !== undefined
  }
}

type FrameOf = Parameters<Eval>[0]

/** A step into an optional results in an optional, and costs only if the value is present. */
function ifPresent(frame: FrameOf, value: CelValue, step: (of: CelValue) => CelValue | undefined): CelValue {
  const of = value instanceof Optional ? value.value : value
  const found = of === undefined ? undefined : step(of)
  if (found === undefined) return Optional.none
  charge(frame, 1)
  return isError(found) || found instanceof Optional ? found : Optional.of(found)
}

function optionalSelect(plan: Planner, operand: Expr, name: Expr): Eval {
  const target = bare(plan, operand)
  const field = name.kind === 'literal' ? String(name.value) : ''
  return frame => {
    const value = target(frame)
    return isError(value) ? value : ifPresent(frame, value, of => member(of, field))
  }
}

function index(plan: Planner, [operand, at]: readonly [Expr, Expr], optional: boolean): Eval {
  const [target, key] = [bare(plan, operand), bare(plan, at)]
  return frame => {
    const value = target(frame)
    if (isError(value)) return value
    const isOptional = optional || value instanceof Optional
    if (value instanceof Optional && value.value === undefined) return value
    const step = key(frame)
    if (isError(step)) return step
    if (isOptional) return ifPresent(frame, value, of => itemOrUndefined(of, step))
    charge(frame, 1)
    return item(value, step)
  }
}

/** The list index of a number of any kind. */
function position(key: CelValue): number | undefined {
  if (typeof key === 'number') return key
  if (key instanceof Uint) return Number(key.value)
  return key instanceof Double && Number.isInteger(key.value) ? key.value : undefined
}

function itemOrUndefined(value: CelValue, key: CelValue): CelValue | undefined {
  if (isMap(value)) return value.get(key)
  const at = isList(value) ? position(key) : undefined
  return isList(value) && at !== undefined && at >= 0 && at < sizeOf(value) ? itemAt(value, at) : undefined
}

export const keyText = (key: CelValue): string => {
  if (key instanceof Uint || key instanceof Double) return String(key.value)
  return key instanceof TypeValue ? key.name : String(key)
}

function item(value: CelValue, key: CelValue): CelValue {
  const found = itemOrUndefined(value, key)
  if (found !== undefined) return found
  if (!isList(value)) return new CelError(`no such key: ${keyText(key)}`)
  return position(key) === undefined && typeof key !== 'bigint'
    ? new CelError(`unsupported index type '${typeof key}' in list`)
    : new CelError(`index out of bounds: ${keyText(key)}`)
}
