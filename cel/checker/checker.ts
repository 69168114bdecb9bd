import type { ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr, StructExpr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/source.ts'
import type { Overload } from '../values/declaration.ts'
import {
  boolType,
  bytesType,
  type CelType,
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
  typeOfType,
  typeText,
  uintType,
} from '../values/type.ts'
import { type CelValue, Double, Uint } from '../values/value.ts'
import { moreGeneral, substitute, type TypeMapping, unify, unwrapped } from './assign.ts'
import { type Environment, typeNamed } from './environment.ts'

/** A type-checked expression, as cel-spec's CheckedExpr: types and references by node. */
export interface CheckedExpr {
  readonly expr: Expr
  readonly types: ReadonlyMap<Expr, CelType>
  /** The overloads that a call can resolve to; one if the types are known. */
  readonly overloads: ReadonlyMap<Expr, readonly Overload[]>
  /** Qualified names: of a variable, a type, or the function of a call. */
  readonly names: ReadonlyMap<Expr, string>
}

/** The state of the type checker. */
export interface CheckerState {
  readonly environment: Environment
  readonly types: Map<Expr, CelType>
  readonly overloads: Map<Expr, readonly Overload[]>
  readonly names: Map<Expr, string>
  readonly issues: Issue[]
  readonly bindings: TypeMapping
  scopes: readonly ReadonlyMap<string, CelType>[]
  params: number
}

export const newCheckerState = (environment: Environment, issues: Issue[]): CheckerState => ({
  environment,
  types: new Map(),
  overloads: new Map(),
  names: new Map(),
  issues,
  bindings: new Map(),
  scopes: [],
  params: 0,
})

export const problem = (check: CheckerState, at: number, message: string): CelType => {
  check.issues.push({ at, message })
  return errorType
}

export const undeclared = (check: CheckerState, at: number, name: string): CelType =>
  problem(check, at, `undeclared reference to '${name}' (in container '')`)

export const newParam = (check: CheckerState): CelType => paramType(`_var${check.params++}`)

/** Checks calls. A parameter, because calls contain expressions. */
export type CallChecker = (
  check: CheckerState,
  expr: Extract<Expr, { kind: 'call' }>,
  visit: VisitExpr,
) => CelType

export type VisitExpr = (expr: Expr) => CelType

/** Checks an expression and returns its type; adds errors to `issues`. */
export function checkExpr(check: CheckerState, expr: Expr, checkCall: CallChecker): CelType {
  const visit: VisitExpr = inner => {
    const type = visitNode(check, inner, visit, checkCall)
    check.types.set(inner, type)
    return type
  }
  return visit(expr)
}

function visitNode(check: CheckerState, expr: Expr, visit: VisitExpr, checkCall: CallChecker): CelType {
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
    case 'comprehension':
      return foldType(check, expr, visit)
  }
}

function literalType(value: CelValue): CelType {
  if (value === null) return nullType
  if (typeof value === 'boolean') return boolType
  if (typeof value === 'string') return stringType
  if (value instanceof Double) return doubleType
  if (value instanceof Uint) return uintType
  return value instanceof Uint8Array ? bytesType : intType
}

function identType(check: CheckerState, expr: Expr, written: string): CelType | undefined {
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

const structNamed = (check: CheckerState, name: string): CelType | undefined =>
  check.environment.struct(name)?.constructible === true ? structType(name) : undefined

/** `a.b.c` for a qualified name; undefined for other expressions. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.test) return undefined
  const prefix = dottedName(expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}

function selectType(check: CheckerState, expr: SelectExpr, visit: VisitExpr): CelType {
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
export function fieldType(check: CheckerState, at: number, of: CelType, { name, optional }: Field): CelType {
  const [target, isOptional] = unwrapped(substitute(check.bindings, of))
  const found = memberType(check, at, target, name)
  return isOptional || optional ? optionalOf(found) : found
}

function memberType(check: CheckerState, at: number, target: CelType, name: string): CelType {
  switch (target.kind) {
    case 'map':
      return paramOf(target, 1)
    case 'struct': {
      const field = check.environment.struct(target.name)?.field(name)
      return field ?? problem(check, at, `undefined field '${name}'`)
    }
    case 'param':
      unify(check.bindings, [dynType], [target])
      return dynType
    case 'dyn':
    case 'error':
      return dynType
    default:
      problem(check, at, `type '${typeText(target)}' does not support field selection`)
      return dynType
  }
}

export const mismatch = (check: CheckerState, at: number, expected: CelType, found: CelType): CelType =>
  problem(check, at, `expected type '${shown(check, expected)}' but found '${shown(check, found)}'`)

const shown = (check: CheckerState, type: CelType): string => typeText(substitute(check.bindings, type))

/** Whether a type is assignable to the expected one. Keeps the substitutions of type parameters. */
export const assignable = (check: CheckerState, expected: CelType, found: CelType): boolean =>
  unify(check.bindings, [expected], [found])

/** The common type of values: dyn if there is none, which `literalIssues` reports in most places. */
function joined(check: CheckerState, previous: CelType | undefined, current: CelType): CelType {
  if (previous === undefined) return current
  return assignable(check, previous, current) ? moreGeneral(previous, current) : dynType
}

/** The type of an element, without the optional. */
function elementType(check: CheckerState, value: Expr, optional: boolean, visit: VisitExpr): CelType {
  const type = visit(value)
  if (!optional) return type
  const [inner, isOptional] = unwrapped(type)
  if (!isOptional && inner.kind !== 'dyn') mismatch(check, value.at, optionalOf(inner), inner)
  return inner
}

function listType(check: CheckerState, { elements }: ListExpr, visit: VisitExpr): CelType {
  let type: CelType | undefined
  for (const { value, optional } of elements)
    type = joined(check, type, elementType(check, value, optional, visit))
  return listOf(type ?? newParam(check))
}

function mapType(check: CheckerState, { entries }: MapExpr, visit: VisitExpr): CelType {
  let keys: CelType | undefined
  let values: CelType | undefined
  for (const { key, value, optional } of entries) {
    keys = joined(check, keys, visit(key))
    values = joined(check, values, elementType(check, value, optional, visit))
  }
  return mapOf(keys ?? newParam(check), values ?? newParam(check))
}

function structOf(check: CheckerState, { at, type: written, fields }: StructExpr, visit: VisitExpr): CelType {
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

function foldType(check: CheckerState, fold: ComprehensionExpr, visit: VisitExpr): CelType {
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

function expectType(check: CheckerState, { at }: Expr, found: CelType, expected: CelType): void {
  if (!assignable(check, expected, found)) mismatch(check, at, expected, found)
}

/** The types of the variables of a comprehension over a type. */
function variableTypes(
  check: CheckerState,
  { range: expr, variable2 }: ComprehensionExpr,
  range: CelType,
): readonly [CelType, CelType] {
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
