import { isDeepStrictEqual } from 'node:util'
import type { CelProgram, EvalResult } from '../../cel/planner/program.ts'
import { Paused, Replay } from '../../cel/planner/replay.ts'
import { CostExceeded, type Effort, perCallLimit } from '../../cel/values/costtracker.ts'
import { CelError, type CelValue, Optional, type TypeAdapter } from '../../cel/values/value.ts'
import type { Steps } from '../../framework/json/json.ts'
import type { LazySteps } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { child, duplicate, forbidden, invalidValue, required } from '../../framework/meta/fielderror.ts'
import type { ValidationRule } from '../../framework/meta/jsonschema.ts'
import type { CompiledValidationRule } from './rule.ts'

/** The cost that is left for the rules of a request, and their errors. Below 0 no more rules are run. */
export interface RuleBudget {
  left: number
  readonly effort: Effort
  readonly errors: FieldError[]
  /** Whose long matches of patterns are made in a thread; undefined: they exceed the cost. */
  readonly account: string | undefined
}

/** A value and the old value that it correlates with; that of the parent if there is none. */
export interface Correlation {
  readonly value: unknown
  readonly old: unknown
  readonly parent: Correlation | undefined
}

export const correlationBelow = (
  parent: Correlation | undefined,
  value: unknown,
  old: unknown,
): Correlation | undefined =>
  parent === undefined ? undefined : old === undefined ? parent : { value, old, parent }

/** A compiled rule, or the problem of one that does not compile. */
export type LazyRule = LazySteps<CompiledValidationRule | string>

/** The rules of a node of the schema. */
export interface NodeRules {
  readonly rules: readonly LazyRule[]
  /** The type of the schema, which some errors print in place of the value. */
  readonly type: string
  readonly adapt: TypeAdapter
}

interface Place {
  readonly path: string
  readonly correlation: Correlation | undefined
}

/** Runs the rules of a node (rules.md 7.31, 7.34 to 7.38), each in a step, or in several. */
export function* runRules(
  node: NodeRules,
  [value, old]: readonly [unknown, unknown],
  place: Place,
  budget: RuleBudget,
): Steps {
  if (budget.left <= 0) {
    outOfBudget(node, place, budget)
    return
  }
  const self = node.adapt(value)
  const oldSelf = old === undefined || old === null ? undefined : node.adapt(old)
  for (const compiled of node.rules) {
    const { value: rule } = compiled.made ?? (yield* compiled.steps())
    if (typeof rule === 'string')
      budget.errors.push(invalidValue(place.path, node.type, `rule compile error: ${rule}`))
    else if (rule.program !== undefined)
      yield* runRule({ node, rule, program: rule.program, value, self, oldSelf }, place, budget)
    if (budget.left < 0) return
    yield
  }
}

function outOfBudget(node: NodeRules, { path }: Place, budget: RuleBudget): void {
  const text = 'validation failed due to running out of cost budget, no further validation rules will be run'
  budget.errors.push(invalidValue(path, node.type, text))
  budget.left = -1
}

interface RuleRun {
  readonly node: NodeRules
  readonly rule: CompiledValidationRule
  readonly program: CelProgram
  readonly value: unknown
  readonly self: CelValue
  readonly oldSelf: CelValue | undefined
}

function variablesOf({ rule: { rule }, self, oldSelf }: RuleRun): readonly (CelValue | undefined)[] {
  if (rule.optionalOldSelf !== true) return [self, oldSelf]
  return [self, oldSelf === undefined ? Optional.none : Optional.of(oldSelf)]
}

/** undefined if it exceeds the cost limit of one rule. */
function* evaluate(
  program: CelProgram,
  variables: readonly (CelValue | undefined)[],
  { effort, account }: RuleBudget,
): Steps<EvalResult | undefined> {
  const replay = new Replay(account)
  for (;;) {
    let paused: Paused
    try {
      return program.go(variables, { cost: perCallLimit, effort }, replay)
    } catch (error) {
      if (error instanceof CostExceeded) return undefined
      if (!(error instanceof Paused)) throw error
      paused = error
    }
    yield paused.until
  }
}

function* runRule(run: RuleRun, place: Place, budget: RuleBudget): Steps {
  const { rule, node, program, oldSelf } = run
  // Transition rules are skipped without an old value.
  if (rule.usesOldSelf && oldSelf === undefined && rule.rule.optionalOldSelf !== true) return
  const outcome = yield* evaluate(program, variablesOf(run), budget)
  const cost = outcome?.cost ?? perCallLimit + 1
  if (cost > budget.left) {
    outOfBudget(node, place, budget)
    return
  }
  budget.left -= cost
  const problem = outcome === undefined ? costText(rule.rule) : errorText(outcome.value, rule.rule)
  if (problem !== undefined) {
    budget.errors.push(invalidValue(place.path, node.type, problem))
    if (outcome === undefined) budget.left = -1
  } else if (outcome?.value !== true) yield* fail(run, place, budget)
}

const costText = (rule: ValidationRule): string =>
  "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost " +
  `exceeds limit for rule: ${nameOf(rule)}`

const signature = 'call arguments did not match a supported operator, function or macro signature'

function errorText(value: CelValue, rule: ValidationRule): string | undefined {
  if (!(value instanceof CelError)) return undefined
  return value.message.startsWith('no such overload')
    ? `'${value.message}': ${signature} for rule: ${nameOf(rule)}`
    : `${value.message} evaluating rule: ${nameOf(rule)}`
}

/** The name of a rule in messages. */
const nameOf = ({ rule, message = '' }: ValidationRule): string =>
  message === '' ? rule.trim() : message.trim()

const plainMessage = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`

/** Adds the error of a failed rule. Errors of unchanged values are ignored, except those of transition rules. */
function* fail(run: RuleRun, place: Place, budget: RuleBudget): Steps {
  const { rule, node, value } = run
  const path = rule.fieldPath === '' ? place.path : child(place.path, rule.fieldPath)
  const forgiven = !rule.usesOldSelf && isUnchanged(place.correlation)
  const message = rule.message === undefined ? undefined : yield* expressed(run, rule.message, budget)
  if (message?.fatal !== undefined) {
    if (!forgiven) budget.errors.push(invalidValue(path, node.type, message.fatal))
    budget.left = -1
    return
  }
  if (forgiven) return
  const shown = node.type === 'object' || node.type === 'array' ? [] : [value]
  budget.errors.push(errorOf(rule.rule, path, message?.text ?? plainMessage(rule.rule), shown))
}

/** The results of comparisons, which all failed rules about a value need. */
const compared = new WeakMap<Correlation, boolean>()

function isUnchanged(correlation: Correlation | undefined): boolean {
  if (correlation === undefined) return false
  const known = compared.get(correlation) ?? isDeepStrictEqual(correlation.value, correlation.old)
  compared.set(correlation, known)
  return known
}

interface Message {
  readonly text?: string
  /** The message exceeded a cost limit: no more rules are run. */
  readonly fatal?: string
}

const maxMessage = 5 * 1024

/** The result of a messageExpression; empty if it fails or is not a valid message (rules.md 7.35). */
function* expressed(run: RuleRun, program: CelProgram, budget: RuleBudget): Steps<Message> {
  const outcome = yield* evaluate(program, variablesOf(run), budget)
  const cost = outcome?.cost ?? perCallLimit + 1
  if (cost > budget.left) {
    const text = 'messageExpression evaluation failed due to running out of cost budget'
    return { fatal: `${text}, no further validation rules will be run` }
  }
  if (outcome === undefined) {
    const text =
      'no further validation rules will be run due to call cost exceeds limit for messageExpression'
    return { fatal: `${text}: ${JSON.stringify(run.rule.rule.messageExpression)}` }
  }
  budget.left -= cost
  if (typeof outcome.value !== 'string') return {}
  const text = outcome.value.trim()
  const isGood = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= maxMessage
  return isGood ? { text } : {}
}

/** `shown` has the value if the error prints it. */
function errorOf(
  { reason }: ValidationRule,
  path: string,
  detail: string,
  shown: readonly unknown[],
): FieldError {
  const value = shown.length === 0 ? {} : { value: shown[0] }
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return shown.length === 0 ? { type: reason, field: path, detail: '' } : duplicate(path, shown[0])
    default:
      return { type: 'FieldValueInvalid', field: path, detail, ...value }
  }
}
