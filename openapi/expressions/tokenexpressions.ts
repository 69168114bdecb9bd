import { check } from '../../cel/checker/check.ts'
import type { CheckedExpr } from '../../cel/checker/checker.ts'
import { type Environment, environment } from '../../cel/checker/environment.ts'
import { ProgramProblem } from '../../cel/planner/plan.ts'
import { type CelProgram, programOf } from '../../cel/planner/program.ts'
import { Paused, Replay } from '../../cel/planner/replay.ts'
import type { Expr } from '../../cel/syntax/ast.ts'
import { newEffort, perCallLimit } from '../../cel/values/costtracker.ts'
import { type FieldView, MapView, ObjectView } from '../../cel/values/maps.ts'
import { dynType, listOf, mapOf, stringType, structType } from '../../cel/values/type.ts'
import {
  CelError,
  type CelValue,
  Double,
  isList,
  itemsOf,
  ListView,
  type TypeAdapter,
} from '../../cel/values/value.ts'
import { Pace } from '../../framework/async/awaitable.ts'
import type { ClaimsBudget, ClaimsExpression, ExpressionCompiler } from '../../framework/authn/jwt/index.ts'
import { isObject } from '../../framework/json/values.ts'

const userType = 'kubernetes.UserInfo'
const userFields = {
  username: stringType,
  uid: stringType,
  groups: listOf(stringType),
  extra: mapOf(stringType, listOf(stringType)),
} as const

const environments: Readonly<Record<'claims' | 'user', Environment>> = {
  claims: environment({ claims: mapOf(stringType, dynType) }),
  user: environment({ user: structType(userType) }, name =>
    name === userType ? { field: field => userFields[field as keyof typeof userFields] } : undefined,
  ),
}

/** The cost of all expressions about one token: that of all expressions of one request in Kubernetes. */
const budgetOfToken = 10_000_000

/**
 * The CEL expressions of an AuthenticationConfiguration (`k8s.io/apiserver/pkg/authentication/cel`): of `claims`, a
 * dynamic map, or of `user`.
 */
export const tokenExpressions: ExpressionCompiler = {
  compile(source, variable) {
    const result = check(source, environments[variable])
    if ('issues' in result) throw new Error(`compilation failed: ${result.issues}`)
    return expressionOf(result.checked, variable)
  },
  newBudget: () => ({ cost: budgetOfToken, effort: newEffort() }),
}

function expressionOf(checked: CheckedExpr, variable: 'claims' | 'user'): ClaimsExpression {
  const program = build(checked, variable)
  const adapt = variable === 'user' ? adaptUser : adaptAny
  return {
    evaluate: (value, budget) => evaluate(program, adapt(value), budget),
    reads: field => readsField(checked.expr, variable, field),
  }
}

function build(checked: CheckedExpr, variable: string): CelProgram {
  try {
    return programOf(checked, [variable])
  } catch (error) {
    if (error instanceof ProgramProblem) throw new Error(`instantiation failed: ${error.message}`)
    throw error
  }
}

async function evaluate(program: CelProgram, variable: CelValue, budget: ClaimsBudget): Promise<unknown> {
  const limits = { cost: Math.min(perCallLimit, budget.cost), effort: budget.effort }
  const replay = new Replay()
  const pace = new Pace()
  for (;;) {
    try {
      const { value, cost } = program.go([variable], limits, replay)
      budget.cost -= cost
      return plain(value)
    } catch (error) {
      if (!(error instanceof Paused)) throw error
      await pace.due()
    }
  }
}

/** Converts lists; strings, booleans and null are the same in JavaScript. */
function plain(value: CelValue): unknown {
  if (value instanceof CelError) throw new Error(value.message)
  return isList(value) ? [...itemsOf(value)].map(plain) : value
}

/** JSON without a schema: numbers are doubles, as in Go. */
const adaptAny: TypeAdapter = raw => {
  if (typeof raw === 'number' || typeof raw === 'bigint') return new Double(Number(raw))
  if (Array.isArray(raw)) return new ListView(raw, adaptAny, { type: 'atomic' })
  if (isObject(raw)) return new ClaimsView(raw, adaptAny)
  return typeof raw === 'string' || typeof raw === 'boolean' ? raw : null
}

/** Claims by name or by escaped name: `claims.kubernetes__dot__io`. */
class ClaimsView extends MapView {
  override get(key: CelValue): CelValue | undefined {
    return super.get(typeof key === 'string' ? unescaped(key) : key)
  }
}

const escapes: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' }
const unescaped = (name: string): string =>
  name.replace(/__(underscores|dot|dash|slash)__/g, (_, code: string) => escapes[code] ?? '')

const fieldViews: ReadonlyMap<string, FieldView> = new Map(
  Object.keys(userFields).map(key => [key, { key, adapt: adaptAny }]),
)
const adaptUser: TypeAdapter = raw => (isObject(raw) ? new ObjectView(raw, fieldViews) : null)

/** Whether an expression contains `variable.field` or `variable.?field`. */
function readsField(expr: Expr, variable: string, field: string): boolean {
  const isVariable = (node: unknown): boolean =>
    isObject(node) && node.kind === 'ident' && node.name === variable
  const visit = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(visit)
    if (!isObject(node)) return false
    if (node.kind === 'select' && isVariable(node.operand) && node.field === field) return true
    if (node.kind === 'call' && node.name === '_?._' && isOptionalSelect(node.args)) return true
    return Object.values(node).some(visit)
  }
  const isOptionalSelect = (args: unknown): boolean =>
    Array.isArray(args) && isVariable(args[0]) && isObject(args[1]) && args[1].value === field
  return visit(expr)
}
