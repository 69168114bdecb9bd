import { atOnce } from '../../framework/json/json.ts'
import type { CallExpr, Expr } from '../syntax/ast.ts'
import { parse } from '../syntax/parser.ts'
import { type Issue, issuesText, SyntaxProblem } from '../syntax/source.ts'
import type { FunctionDecl, Overload } from '../values/declaration.ts'
import { boolType, type CelType, dynType, errorType, sameType, typeText } from '../values/type.ts'
import { substitute, substituteAll, unify, withParams } from './assign.ts'
import {
  type CallChecker,
  type CheckedExpr,
  type CheckerState,
  checkExpr,
  dottedName,
  fieldType,
  mismatch,
  newCheckerState,
  newParam,
  problem,
  undeclared,
  type VisitExpr,
} from './checker.ts'
import type { Environment } from './environment.ts'
import { literalIssues } from './validators.ts'

/** A checked expression with its type, or its issues in the format of cel-go. */
export type CheckResult =
  | { readonly checked: CheckedExpr; readonly type: CelType }
  | { readonly issues: string }

/** Parses an expression and checks its types. */
export const check = (source: string, environment: Environment): CheckResult =>
  atOnce(checkSteps(source, environment))

/** `check` in steps. */
export function* checkSteps(source: string, environment: Environment): Generator<void, CheckResult> {
  try {
    const expr = parse(source)
    yield
    return checkParsed(source, expr, environment)
  } catch (error) {
    if (error instanceof SyntaxProblem) return { issues: issuesText(source, error.issues) }
    throw error
  }
}

function checkParsed(source: string, expr: Expr, environment: Environment): CheckResult {
  const issues: Issue[] = []
  const state = newCheckerState(environment, issues)
  checkExpr(state, expr, checkCall)
  if (issues.length > 0) return { issues: issuesText(source, issues) }
  const types = substituteAll(state.bindings, state.types)
  const checked: CheckedExpr = { expr, types, overloads: state.overloads, names: state.names }
  const wrong = literalIssues(checked)
  if (wrong.length > 0) return { issues: issuesText(source, wrong) }
  return { checked, type: types.get(expr) ?? dynType }
}

const checkCall: CallChecker = (state, call, visit) => {
  if (call.name === '_?._') return checkOptionalSelect(state, call, visit)
  for (const arg of call.args) visit(arg)
  const { target } = call
  if (target === undefined) return checkFunction(state, call, call.name.replace(/^\./, ''), call.args)
  const prefix = dottedName(target)
  const qualified = prefix === undefined ? undefined : `${prefix.replace(/^\./, '')}.${call.name}`
  if (qualified !== undefined && state.environment.functions.has(qualified)) {
    state.names.set(call, qualified)
    return checkFunction(state, call, qualified, call.args)
  }
  visit(target)
  return checkFunction(state, call, call.name, [target, ...call.args])
}

function checkFunction(state: CheckerState, call: CallExpr, name: string, args: readonly Expr[]): CelType {
  const declared = state.environment.functions.get(name)
  if (declared === undefined) return undeclared(state, call.at, name)
  const types = args.map(arg => state.types.get(arg) ?? dynType)
  if (name === '_&&_' || name === '_||_') return checkLogic(state, args, types)
  const isMember = args.length > call.args.length
  return (
    resolve(state, call, declared, { types, isMember }) ?? noOverload(state, call, name, { types, isMember })
  )
}

/** Reports each operand that is not a bool. */
function checkLogic(state: CheckerState, args: readonly Expr[], types: readonly CelType[]): CelType {
  let isGood = true
  types.forEach((type, i) => {
    if (unify(state.bindings, [type], [boolType])) return
    isGood = false
    mismatch(state, args[i]?.at ?? 0, boolType, type)
  })
  return isGood ? boolType : errorType
}

interface Signature {
  readonly types: readonly CelType[]
  readonly isMember: boolean
}

function resolve(
  state: CheckerState,
  call: CallExpr,
  declared: FunctionDecl,
  signature: Signature,
): CelType | undefined {
  const matching: Overload[] = []
  let result: CelType | undefined
  for (const overload of declared.overloads) {
    if (overload.member !== signature.isMember) continue
    const [of, ...params] = instantiated(state, overload)
    if (of === undefined || !unify(state.bindings, signature.types, params)) continue
    matching.push(overload)
    const type = substitute(state.bindings, of)
    if (result === undefined) result = type
    else if (result.kind !== 'dyn' && !sameType(type, result)) result = dynType
  }
  state.overloads.set(call, matching)
  return result
}

/** The result and parameters of overloads without type parameters. */
const signatures = new WeakMap<Overload, readonly CelType[]>()

/** The result and parameters of an overload, with new type parameters. */
function instantiated(state: CheckerState, overload: Overload): readonly CelType[] {
  const known = signatures.get(overload)
  if (known !== undefined) return known
  const types = [overload.result, ...overload.params]
  if (types.some(({ isGeneric }) => isGeneric)) return withNewParams(state, types)
  signatures.set(overload, types)
  return types
}

function withNewParams(state: CheckerState, types: readonly CelType[]): readonly CelType[] {
  const fresh = new Map<string, CelType>()
  const replace = (type: CelType): CelType => {
    if (type.kind !== 'param') return withParams(type, replace)
    const known = fresh.get(type.name) ?? newParam(state)
    fresh.set(type.name, known)
    return known
  }
  return types.map(replace)
}

function noOverload(
  state: CheckerState,
  { at }: CallExpr,
  name: string,
  { types, isMember }: Signature,
): CelType {
  const [target, ...rest] = types.map(type => typeText(substitute(state.bindings, type, true)))
  const text = isMember ? `${target}.(${rest.join(', ')})` : `(${[target, ...rest].join(', ')})`
  return problem(state, at, `found no matching overload for '${name}' applied to '${text}'`)
}

function checkOptionalSelect(state: CheckerState, { at, args }: CallExpr, visit: VisitExpr): CelType {
  const [operand, name] = args
  if (operand === undefined || name?.kind !== 'literal' || typeof name.value !== 'string') return errorType
  const field = fieldType(state, at, visit(operand), { name: name.value, optional: true })
  return substitute(state.bindings, field)
}
