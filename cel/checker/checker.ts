import type { Expr, Fold, ListExpr, MapExpr, Select, StructExpr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/source.ts'
import type { Overload } from '../values/declaration.ts'
import {
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  paramOf,
  paramType,
  stringType,
  structType,
  type Type,
  typeOfType,
  typeText,
  uintType,
} from '../values/type.ts'
import { Double, Uint, type Value } from '../values/value.ts'
import { type Bindings, moreGeneral, substitute, unify, unwrapped } from './assign.ts'
import { type Environment, typeNamed } from './environment.ts'

/** What is known of a checked expression, by node. */
export interface Checked {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, Type>
  /** The ways in which a call may go; one where the types tell. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Names with dots that are one name: a variable, a type, or the function of a call. */
  readonly names: ReadonlyMap<Expr, string>
}

/** A check under way. */
export interface Check {
  readonly environment: Environment
  readonly types: Map<Expr, Type>
  readonly overloads: Map<Expr, readonly Overload[]>
  readonly names: Map<Expr, string>
  readonly issues: Issue[]
  bindings: Bindings
  scopes: readonly ReadonlyMap<string, Type>[]
  params: number
}

export const newCheck = (environment: Environment, issues: Issue[]): Check => ({
  environment,
  types: new Map(),
  overloads: new Map(),
  names: new Map(),
  issues,
  bindings: new Map(),
  scopes: [],
  params: 0,
})

export const problem = (check: Check, at: number, message: string): Type => {
  check.issues.push({ at, message })
  return errorType
}

export const undeclared = (check: Check, at: number, name: string): Type =>
  problem(check, at, `undeclared reference to '${name}' (in container '')`)

export const newParam = (check: Check): Type => paramType(`_var${check.params++}`)

/** Checks calls; in its own file, and handed in here because calls hold expressions. */
export type CheckCall = (check: Check, expr: Extract<Expr, { kind: 'call' }>, visit: Visit) => Type

export type Visit = (expr: Expr) => Type

/** The type of an expression and of everything in it; adds to `issues` what is wrong. */
export function checkExpr(check: Check, expr: Expr, checkCall: CheckCall): Type {
  const visit: Visit = inner => {
    const type = visitNode(check, inner, visit, checkCall)
    check.types.set(inner, type)
    return type
  }
  return visit(expr)
}

function visitNode(check: Check, expr: Expr, visit: Visit, checkCall: CheckCall): Type {
  switch (expr.kind) {
    case 'literal':
      return literalType(expr.value)
    case 'ident':
      return identType(check, expr, expr.name) ?? undeclared(check, expr.at, expr.name)
    case 'select':
      return selectType(check, expr, visit)
    case 'call':
      return checkCall(check, expr, visit)
    case 'list':
      return listType(check, expr, visit)
    case 'map':
      return mapType(check, expr, visit)
    case 'struct':
      return structOf(check, expr, visit)
    case 'fold':
      return foldType(check, expr, visit)
  }
}

function literalType(value: Value): Type {
  if (value === null) return nullType
  if (typeof value === 'boolean') return boolType
  if (typeof value === 'string') return stringType
  if (value instanceof Double) return doubleType
  if (value instanceof Uint) return uintType
  return value instanceof Uint8Array ? bytesType : intType
}

function identType(check: Check, expr: Expr, written: string): Type | undefined {
  const isGlobal = written.startsWith('.')
  const name = isGlobal ? written.slice(1) : written
  const local = isGlobal ? undefined : check.scopes.findLast(scope => scope.has(name))?.get(name)
  const type = local ?? check.environment.variables.get(name)
  if (type !== undefined) {
    check.names.set(expr, name)
    return type
  }
  const named = typeNamed(name) ?? structNamed(check, name)
  if (named === undefined) return undefined
  check.names.set(expr, `type ${named.name}`)
  return typeOfType(named)
}

const structNamed = (check: Check, name: string): Type | undefined =>
  check.environment.struct(name)?.constructible === true ? structType(name) : undefined

/** `a.b.c` for names with dots; undefined for anything else. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const prefix = dottedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

function selectType(check: Check, expr: Select, visit: Visit): Type {
  const name = dottedName(expr)
  const isLocal = name !== undefined && check.scopes.some(scope => scope.has(name.split('.', 1)[0] ?? ''))
  const named = name === undefined || isLocal ? undefined : identType(check, expr, name)
  if (named !== undefined) return named
  const field = fieldType(check, expr.at, visit(expr.operand), { name: expr.field, optional: false })
  return expr.test ? boolType : substitute(check.bindings, field)
}

interface Field {
  readonly name: string
  readonly optional: boolean
}

/** The type of a field of a value of a type. */
export function fieldType(check: Check, at: number, of: Type, { name, optional }: Field): Type {
  const [target, isOptional] = unwrapped(substitute(check.bindings, of))
  const found = memberType(check, at, target, name)
  return isOptional || optional ? optionalOf(found) : found
}

function memberType(check: Check, at: number, target: Type, name: string): Type {
  switch (target.kind) {
    case 'map':
      return paramOf(target, 1)
    case 'struct': {
      const field = check.environment.struct(target.name)?.field(name)
      return field ?? problem(check, at, `undefined field '${name}'`)
    }
    case 'param':
      check.bindings = unify(check.bindings, [dynType], [target]) ?? check.bindings
      return dynType
    case 'dyn':
    case 'error':
      return dynType
    default:
      problem(check, at, `type '${typeText(target)}' does not support field selection`)
      return dynType
  }
}

export const mismatch = (check: Check, at: number, expected: Type, found: Type): Type =>
  problem(check, at, `expected type '${shown(check, expected)}' but found '${shown(check, found)}'`)

const shown = (check: Check, type: Type): string => typeText(substitute(check.bindings, type))

/** Whether the type fits where the other is expected; what that says of type parameters is kept. */
export function assignable(check: Check, expected: Type, found: Type): boolean {
  const next = unify(check.bindings, [expected], [found])
  if (next !== undefined) check.bindings = next
  return next !== undefined
}

/** The type of several values together: dyn when they have none. `literalIssues` refuses that in most places. */
function joined(check: Check, previous: Type | undefined, current: Type): Type {
  if (previous === undefined) return current
  return assignable(check, previous, current) ? moreGeneral(previous, current) : dynType
}

/** What an optional element holds. */
function elementType(check: Check, value: Expr, optional: boolean, visit: Visit): Type {
  const type = visit(value)
  if (!optional) return type
  const [inner, isOptional] = unwrapped(type)
  if (!isOptional && inner.kind !== 'dyn') mismatch(check, value.at, optionalOf(inner), inner)
  return inner
}

function listType(check: Check, { elements }: ListExpr, visit: Visit): Type {
  let type: Type | undefined
  for (const { value, optional } of elements)
    type = joined(check, type, elementType(check, value, optional, visit))
  return listOf(type ?? newParam(check))
}

function mapType(check: Check, { entries }: MapExpr, visit: Visit): Type {
  let keys: Type | undefined
  let values: Type | undefined
  for (const { key, value, optional } of entries) {
    keys = joined(check, keys, visit(key))
    values = joined(check, values, elementType(check, value, optional, visit))
  }
  return mapOf(keys ?? newParam(check), values ?? newParam(check))
}

function structOf(check: Check, { at, type: written, fields }: StructExpr, visit: Visit): Type {
  const name = written.replace(/^\./, '')
  const info = check.environment.struct(name)
  const isKnown = info?.constructible === true
  if (!isKnown) return undeclared(check, at, name)
  for (const { at: place, name: field, value, optional } of fields) {
    const found = elementType(check, value, optional, visit)
    const wanted = info.field(field)
    if (wanted === undefined) problem(check, place, `undefined field '${field}'`)
    else if (!assignable(check, wanted, found)) {
      const types = `'${typeText(wanted)}' but provided type is '${shown(check, found)}'`
      problem(check, place, `expected type of field '${field}' is ${types}`)
    }
  }
  return structType(name)
}

function foldType(check: Check, fold: Fold, visit: Visit): Type {
  const range = substitute(check.bindings, visit(fold.range))
  const init = visit(fold.init)
  const [first, second] = variableTypes(check, fold, range)
  const outer = check.scopes
  const accumulated = [...outer, new Map([[fold.accumulator, init]])]
  const variables = new Map([[fold.variable, first]])
  if (fold.variable2 !== undefined) variables.set(fold.variable2, second)
  check.scopes = [...accumulated, variables]
  expectType(check, fold.condition, visit(fold.condition), boolType)
  expectType(check, fold.step, visit(fold.step), init)
  check.scopes = accumulated
  const result = visit(fold.result)
  check.scopes = outer
  return substitute(check.bindings, result)
}

function expectType(check: Check, { at }: Expr, found: Type, expected: Type): void {
  if (!assignable(check, expected, found)) mismatch(check, at, expected, found)
}

/** The types of the variables of a loop over a type. */
function variableTypes(check: Check, { range: expr, variable2 }: Fold, range: Type): readonly [Type, Type] {
  switch (range.kind) {
    case 'list':
      return variable2 === undefined ? [paramOf(range), dynType] : [intType, paramOf(range)]
    case 'map':
      return [paramOf(range), paramOf(range, 1)]
    case 'dyn':
    case 'error':
    case 'param':
      assignable(check, dynType, range)
      return [dynType, dynType]
    default: {
      const kinds = '(must be list, map, or dynamic)'
      const text = `expression of type '${typeText(range)}' cannot be range of a comprehension ${kinds}`
      problem(check, expr.at, text)
      return [errorType, errorType]
    }
  }
}
