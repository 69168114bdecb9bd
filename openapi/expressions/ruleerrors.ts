import { estimateCost } from '../../cel/cost/estimate.ts'
import { unlimited } from '../../cel/cost/estimatesize.ts'
import { maxCardinality } from '../../cel/schema/schemasize.ts'
import {
  type RootDeclaration,
  resourceDeclarationSteps,
  type SchemaDeclaration,
} from '../../cel/schema/schematype.ts'
import { Work } from '../../framework/json/json.ts'
import { append, isObject } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps, ValidationRule } from '../../framework/meta/jsonschema.ts'
import { checkRuleSteps, programsOf, usesOldSelf } from './rule.ts'

/** The position of a schema in the root schema. */
interface Place {
  readonly path: string
  /** The maximum number of its values in an object; undefined if unlimited. */
  readonly cardinality: number | undefined
  /** The path of the list whose items cannot be correlated with old items. */
  readonly uncorrelatable: string | undefined
}

interface State {
  readonly root: RootDeclaration
  readonly costs: RuleCosts
  readonly errors: FieldError[]
  readonly work: Work
}

/**
 * Errors of the rules of a structural schema: rules that do not compile, exceed the limits of estimated cost, or use
 * oldSelf where values cannot be correlated (rules.md 7.31, 7.38, 7.40). In steps, each of one rule at most.
 */
export function* ruleErrors(schema: JSONSchemaProps, path: string): Generator<void, readonly FieldError[]> {
  if (!(yield* hasRules(schema, new Work()))) return []
  const root = yield* resourceDeclarationSteps(schema)
  if (root === undefined) return []
  const state: State = { root, costs: newCosts(), errors: [], work: new Work() }
  const place: Place = { path, cardinality: 1, uncorrelatable: undefined }
  yield* checkNode(state, schema, root, place)
  return [...state.errors, ...totalErrors(state.costs, path)]
}

/** Whether a node of the structural part has rules. */
function* hasRules(schema: JSONSchemaProps, work: Work): Generator<void, boolean> {
  const { 'x-kubernetes-validations': rules = [], additionalProperties: other, items, properties } = schema
  if (rules.length > 0) return true
  if (work.isStepDone()) yield
  if (isObject(other) && (yield* hasRules(other, work))) return true
  for (const name in properties) if (yield* hasRules(properties[name] ?? {}, work)) return true
  return items !== undefined && (yield* hasRules(items, work))
}

/** In the order of Kubernetes: additionalProperties, properties, items, then the node itself. */
function* checkNode(
  state: State,
  schema: JSONSchemaProps,
  declaration: SchemaDeclaration | undefined,
  place: Place,
): Generator<void> {
  const { additionalProperties: other, properties, items } = schema
  const below = { ...place, cardinality: cardinalityBelow(schema, place) }
  const at = (step: string): Place => ({ ...below, path: `${place.path}.${step}` })
  const { root } = state
  if (state.work.isStepDone()) yield
  if (isObject(other)) yield* checkNode(state, other, root.of(other), at('additionalProperties'))
  for (const name in properties) {
    const property = properties[name] ?? {}
    yield* checkNode(state, property, root.of(property), at(`properties[${name}]`))
  }
  if (items !== undefined) {
    const uncorrelatable = isCorrelatable(schema)
      ? place.uncorrelatable
      : (place.uncorrelatable ?? place.path)
    yield* checkNode(state, items, root.of(items), { ...at('items'), uncorrelatable })
  }
  yield* checkRules(state, schema, declaration, place)
}

/** Only items of lists of type map can be correlated. */
const isCorrelatable = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-list-type'] === 'map'

function cardinalityBelow(schema: JSONSchemaProps, { cardinality }: Place): number | undefined {
  const { type, additionalProperties, maxProperties, maxItems } = schema
  const isMap = type === 'object' && additionalProperties !== undefined
  const factor = isMap ? maxProperties : type === 'array' ? maxItems : 1
  return cardinality === undefined || factor === undefined ? undefined : cardinality * Math.max(0, factor)
}

function* checkRules(
  state: State,
  { 'x-kubernetes-validations': rules = [] }: JSONSchemaProps,
  declaration: SchemaDeclaration | undefined,
  place: Place,
): Generator<void> {
  if (rules.length === 0) return
  const at = `${place.path}.x-kubernetes-validations`
  if (declaration === undefined) {
    const why = 'failed to construct type information for x-kubernetes-validations rules'
    const detail = `internal error: ${why}: unable to convert structural schema to CEL declarations`
    state.errors.push({ type: 'InternalError', field: at, detail })
    return
  }
  for (const [i, rule] of rules.entries()) {
    append(state.errors, yield* ruleErrorsAt(state, rule, declaration, { ...place, path: `${at}[${i}]` }))
    yield
  }
}

/** Each part of the work for an expression takes a step: the longest one takes tens of milliseconds for each. */
function* ruleErrorsAt(
  state: State,
  rule: ValidationRule,
  declaration: SchemaDeclaration,
  place: Place,
): Generator<void, readonly FieldError[]> {
  const checked = yield* checkRuleSteps(rule, declaration, state.root)
  yield
  const { problem } = programsOf(checked)
  yield
  const times = place.cardinality ?? maxCardinality(declaration.minSize)
  const at = `${place.path}.rule`
  const fails = problem?.where === 'rule'
  const own = checked.rule === undefined || fails ? 0 : estimateCost(checked.rule, declaration).max * times
  yield
  const message =
    fails || checked.message === undefined ? undefined : estimateCost(checked.message, declaration)
  const messageAt = `${place.path}.messageExpression`
  return [
    ...countCost(state.costs, at, own, 'estimated rule cost'),
    ...(problem === undefined
      ? []
      : [invalidValue(`${place.path}.${problem.where}`, shownRule(rule), problem.text)]),
    ...(message === undefined || problem !== undefined
      ? []
      : countCost(state.costs, messageAt, message.max, 'estimated messageExpression cost')),
    ...oldSelfErrors(rule, usesOldSelf(checked.rule), place),
  ]
}

/** Errors print the Go struct of the rule. */
const shownRule = (rule: ValidationRule): unknown => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
})

function oldSelfErrors(
  { rule, optionalOldSelf }: ValidationRule,
  isUsed: boolean,
  { path, uncorrelatable }: Place,
): readonly FieldError[] {
  if (isUsed) {
    const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
    return uncorrelatable === undefined ? [] : [invalidValue(`${path}.rule`, rule, text)]
  }
  if (optionalOldSelf === undefined) return []
  return [
    invalidValue(`${path}.optionalOldSelf`, optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
  ]
}

/** Limits of the estimated cost of a rule, and of all rules of a schema (rules.md 7.38). */
const ruleLimit = 10_000_000
const schemaLimit = 100_000_000

/** The estimated costs of the rules of a schema, while it is validated. */
export interface RuleCosts {
  total: number
  readonly expensive: { readonly path: string; readonly cost: number }[]
}

const newCosts = (): RuleCosts => ({ total: 0, expensive: [] })

/** Adds the cost of an expression; an error if it exceeds the limit of one rule. */
function countCost(costs: RuleCosts, path: string, cost: number, name: string): readonly FieldError[] {
  costs.total = Math.min(costs.total + cost, unlimited)
  if (cost >= schemaLimit / 100) {
    costs.expensive.push({ path, cost })
    costs.expensive.sort((a, b) => b.cost - a.cost)
    costs.expensive.length = Math.min(costs.expensive.length, 4)
  }
  return cost > ruleLimit ? [forbidden(path, tooExpensive(name, cost / ruleLimit))] : []
}

/** Errors if all rules together exceed the limit of a schema. */
function totalErrors({ total, expensive }: RuleCosts, path: string): readonly FieldError[] {
  if (total <= schemaLimit) return []
  const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  const text = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  return [
    ...expensive.map(({ path: rule }) => forbidden(rule, text)),
    forbidden(path, tooExpensive(name, total / schemaLimit)),
  ]
}

function tooExpensive(name: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'
  return `${name} exceeds budget by factor of ${times} (${advice})`
}
