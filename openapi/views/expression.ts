import { check } from '../../cel/checker/check.ts'
import type { CheckedExpr } from '../../cel/checker/checker.ts'
import { ProgramProblem } from '../../cel/planner/plan.ts'
import { type CelProgram, programOf } from '../../cel/planner/program.ts'
import { toJson } from '../../cel/schema/adapt.ts'
import { CostExceeded, maxEffort } from '../../cel/values/costtracker.ts'
import { type CelType, typeText } from '../../cel/values/type.ts'
import { CelError, type CelValue } from '../../cel/values/value.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Steps } from '../../framework/json/json.ts'
import { type KeptResult, KeptResults } from '../../framework/lens/keptresults.ts'
import { apiVersionOf, type KubeObject } from '../../framework/meta/object.ts'
import type { LabelRequirement } from '../../framework/selectors/selectors.ts'
import { ExpressionCache } from './expressioncache.ts'
import { labelsOf } from './labels.ts'
import type { ExpressionParams } from './params.ts'
import { type ExpressionReads, readsOf } from './reads.ts'
import {
  type ClusterFacts,
  clusterValue,
  objectSteps,
  type UserFacts,
  userValue,
  variableNames,
  viewVariables,
} from './variables.ts'

/** The kind whose objects an expression reads. */
export interface ExpressionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly openapi: Readonly<Record<string, unknown>>
  /** The variable `params`, which the View has values for. */
  readonly params?: ExpressionParams
}

/** What an expression is evaluated for. */
export interface ExpressionSubject {
  readonly item: Item
  readonly cluster: ClusterFacts
  readonly user: UserFacts
}

/** What is left for the expressions of one request together. */
export interface ExpressionAllowance {
  /** CEL cost. */
  left: number
  /** Steps of work beside the cost. */
  effort: number
}

/** The value of an expression as JSON, or why it has none: a text without values of the object. */
export type ExpressionResult =
  | { readonly value: unknown }
  /** `isOverBudget`: the request has no cost left; another request may succeed. */
  | { readonly failure: string; readonly isOverBudget?: true }

/** An expression of a View that has been checked against the schema of a kind. */
export interface ViewExpression {
  readonly reads: ExpressionReads
  /** Labels of all objects for which it is true. */
  readonly labels: readonly LabelRequirement[]
  /** The result, which is kept with the item if it does not depend on the user. */
  evaluate(subject: ExpressionSubject, allowance: ExpressionAllowance): ExpressionResult
}

/** `bool` for filters, `string` for annotations, `cell` for columns. */
export type ExpressionUse = 'bool' | 'string' | 'cell'

/** The cost limit of one evaluation: about 0.3 ms. */
const evaluationLimit = 10_000
/** Steps of work beside the cost, in one evaluation. */
const evaluationEffort = 200_000
/** The work of compiling an expression for one kind, in units of CEL. */
const compilationCost = 30_000
/** The cost limit of all evaluations of one request. */
export const requestCostLimit = 10_000_000

/** What one request may use. */
export const requestAllowance = (): ExpressionAllowance => ({ left: requestCostLimit, effort: maxEffort })

/** Bytes of kept results. */
const mostKept = 128 * 1024 * 1024
/** Bytes of a kept result besides its text. */
const resultSize = 96

type CompiledOrProblem = ViewExpression | { readonly problem: string }

/** Compiles, or returns a kept result. `allowance`: of the request that pays for the compilation. */
type ExpressionCompiler = (
  source: string,
  kind: ExpressionKind,
  use: ExpressionUse,
  allowance?: ExpressionAllowance,
) => CompiledOrProblem

interface CacheOptions {
  /** The expressions that were used last are kept. */
  readonly max: number
  /** Whether the results of expressions are kept with the items. */
  readonly keepsResults: boolean
}

function expressionCache({ max, keepsResults }: CacheOptions): ExpressionCompiler {
  const compiled = new ExpressionCache<CompiledOrProblem>(max)
  const kept = keepsResults ? new KeptResults<Kept>(mostKept) : undefined
  return (source, kind, use, allowance) => {
    const { group, version, kind: name, openapi, params } = kind
    const key = JSON.stringify([group, version, name, params, use, source])
    const known = compiled.get(openapi, key)
    if (known !== undefined) return known
    if (allowance !== undefined) allowance.left -= compilationCost
    const made = compile(source, { kind, use, kept })
    compiled.set(openapi, key, made)
    return made
  }
}

/**
 * Compiles an expression for a kind. The problem has line and column: `line 1, column 8: undefined field 'colr'`. Equal
 * expressions for equal kinds share one result.
 */
export const compileViewExpression = expressionCache({ max: 1_000, keepsResults: true })

/** The same for the expression of a request: results are not kept, because anybody can send any number of expressions. */
export const compileQueryExpression = expressionCache({ max: 200, keepsResults: false })

/** Prepares the expressions about a kind in steps, before the first is compiled: the schemas of tenants are large. */
export function* prepareExpressions(kind: ExpressionKind): Steps {
  yield* objectSteps(kind)
}

interface CompileOptions {
  readonly kind: ExpressionKind
  readonly use: ExpressionUse
  readonly kept: KeptResults<Kept> | undefined
}

function compile(source: string, { kind, use, kept }: CompileOptions): CompiledOrProblem {
  const { environment, ...values } = viewVariables(kind)
  const result = check(source, environment)
  if ('issues' in result) return { problem: problemOf(result.issues) }
  if (!types[use].includes(result.type.kind))
    return { problem: `must be of type ${nameOf[use]}, but is of type ${typeText(result.type)}` }
  const program = build(result.checked)
  if (typeof program === 'string') return { problem: program }
  const { expr } = result.checked
  return new Compiled({ program, use, ...values, kind, kept, reads: readsOf(expr), labels: labelsOf(expr) })
}

const nameOf = { bool: 'bool', string: 'string', cell: 'string, number or bool' } as const

const types: Readonly<Record<ExpressionUse, readonly CelType['kind'][]>> = {
  bool: ['bool', 'dyn'],
  string: ['string', 'dyn'],
  cell: ['string', 'int', 'uint', 'double', 'bool', 'dyn'],
}

/** cel-go's issues, without the excerpts of the source. */
function problemOf(issues: string): string {
  const found = [...issues.matchAll(/^ERROR: <input>:(-?\d+):(\d+): (.*)$/gm)]
  const texts = found.map(
    ([, line, column, text = '']) => `line ${line}, column ${column}: ${explained(text)}`,
  )
  return texts.length === 0 ? issues : texts.join('; ')
}

/** Mistakes that are easily made. */
const explanations: readonly (readonly [RegExp, string])[] = [
  [
    /undeclared reference to '(now|time|date)'/,
    'expressions cannot depend on the time, because no event tells a watch that time has passed',
  ],
  [/undefined field 'namespace'/, 'the name of the field is a keyword of CEL: write __namespace__'],
]

const explained = (text: string): string =>
  [text, ...explanations.flatMap(([mistake, why]) => (mistake.test(text) ? [why] : []))].join(': ')

function build(checked: CheckedExpr): CelProgram | string {
  try {
    return programOf(checked, variableNames)
  } catch (error) {
    if (error instanceof ProgramProblem) return error.message
    throw error
  }
}

interface Parts {
  readonly program: CelProgram
  readonly use: ExpressionUse
  readonly object: (object: KubeObject) => CelValue
  readonly params: CelValue | undefined
  readonly kind: ExpressionKind
  readonly reads: ExpressionReads
  readonly labels: readonly LabelRequirement[]
  /** undefined: results are not kept. */
  readonly kept: KeptResults<Kept> | undefined
}

interface Kept extends KeptResult {
  readonly cluster: ClusterFacts
  readonly result: ExpressionResult
}

class Compiled implements ViewExpression {
  readonly reads: ExpressionReads
  readonly labels: readonly LabelRequirement[]
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.reads = parts.reads
    this.labels = parts.labels
    this.#parts = parts
  }

  evaluate(subject: ExpressionSubject, allowance: ExpressionAllowance): ExpressionResult {
    const { kept } = this.#parts
    if (this.reads.user || kept === undefined) return this.#run(subject, allowance)
    const { item, cluster } = subject
    const known = kept.get(this, item)
    if (known !== undefined && (!this.reads.cluster || known.cluster === cluster)) return known.result
    const result = this.#run(subject, allowance)
    if (result !== outOfBudget) kept.set(this, item, { cluster, result, size: sizeOf(result) })
    return result
  }

  #run(subject: ExpressionSubject, allowance: ExpressionAllowance): ExpressionResult {
    const { program, use, kept } = this.#parts
    if (kept === undefined && this.reads.body) allowance.left -= decodingCost(subject.item)
    const limit = Math.min(evaluationLimit, allowance.left)
    const most = Math.min(evaluationEffort, allowance.effort)
    if (limit <= 0 || most <= 0) return outOfBudget
    const effort = { left: most }
    try {
      const { value, cost } = program.run(this.#variables(subject), limit, effort)
      allowance.left -= cost
      return resultOf(value, use)
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
      allowance.left -= limit
      const isRequestOver = limit < evaluationLimit || most < evaluationEffort
      return isRequestOver ? outOfBudget : { failure: 'cost limit exceeded' }
    } finally {
      allowance.effort -= most - effort.left
    }
  }

  #variables({ item, cluster, user }: ExpressionSubject): readonly (CelValue | undefined)[] {
    const { object, params, kind } = this.#parts
    const raw = this.reads.body ? item.object : metadataOnly(item, kind)
    return [object(raw), clusterValue(cluster), userValue(user), params]
  }
}

const sizeOf = (result: ExpressionResult): number =>
  resultSize + ('value' in result && typeof result.value === 'string' ? 2 * result.value.length : 0)

/** The work of decoding an object, in units of CEL. With kept results, each version is decoded once. */
const decodingCost = (item: Item): number => (item.length ?? item.bytes.length) >> 4

/** Not kept: another request has its own budget. */
const outOfBudget: ExpressionResult = { failure: 'cost limit of the request exceeded', isOverBudget: true }

function metadataOnly({ meta }: Item, { group, version, kind }: ExpressionKind): KubeObject {
  const { name, namespace, uid, labels, annotations } = meta
  const metadata = { name, ...(namespace !== '' && { namespace }), uid, labels, annotations }
  return { apiVersion: apiVersionOf(group, version), kind, metadata }
}

/** Errors of CEL have values after the colon: `no such key: <key>`. */
function resultOf(value: CelValue, use: ExpressionUse): ExpressionResult {
  if (value instanceof CelError) return { failure: value.message.replace(/:.*$/s, '') }
  const json = toJson(value)
  return scalars[use].includes(typeof json) ? { value: json } : { failure: `is not of type ${nameOf[use]}` }
}

const scalars: Readonly<Record<ExpressionUse, readonly string[]>> = {
  bool: ['boolean'],
  string: ['string'],
  cell: ['string', 'number', 'bigint', 'boolean'],
}
