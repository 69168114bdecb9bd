import { listKind } from '../../cel/schema/adapt.ts'
import {
  type RootDeclaration,
  resourceDeclarationSteps,
  type SchemaDeclaration,
} from '../../cel/schema/schematype.ts'
import { newEffort } from '../../cel/values/costtracker.ts'
import { escapedName } from '../../cel/values/type.ts'
import type { Steps } from '../../framework/json/json.ts'
import { isObject, LazyMembers, LazySteps, memberOf } from '../../framework/json/values.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { child } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps, ValidationRule } from '../../framework/meta/jsonschema.ts'
import { CompiledSize, nodesWith } from '../nodes/nodes.ts'
import { compileRuleSteps } from './rule.ts'
import { type Correlation, correlationBelow, type LazyRule, type RuleBudget, runRules } from './rulerun.ts'

/** The rules of a node and its descendants. */
interface RuleNode {
  readonly schema: JSONSchemaProps
  readonly declaration: SchemaDeclaration | undefined
  readonly rules: readonly LazyRule[]
  readonly properties: LazyMembers<JSONSchemaProps, RuleNode | undefined>
  readonly additional: RuleNode | undefined
  readonly items: RuleNode | undefined
  /** For lists of type map, the key that correlates new and old items. */
  readonly keyOf: ((item: unknown) => string) | undefined
}

/** Evaluates rules on an object, each in a step; `old` is the old object of an update, and `account` whose work it is. */
export type RuleCheck = (object: unknown, old: unknown, account?: string) => ErrorSteps

/** The cost limit of all rules in a request. */
const requestBudget = 10_000_000

/** What a rule takes, in nodes of a compiled schema, and a node for so many of its characters. */
const [nodesOfRule, charactersOfNode] = [10, 25]

/** What the rules of a schema are compiled with. */
interface Rules {
  readonly root: RootDeclaration
  /** The nodes with rules, and those above them. */
  readonly nodes: ReadonlySet<JSONSchemaProps>
  readonly size: CompiledSize
}

/**
 * Compiles the rules of the schema of a whole object in steps: each rule when an object first has its field. undefined if there are
 * none.
 */
export function* compileRuleCheck(
  schema: JSONSchemaProps,
  size = new CompiledSize(),
): Generator<void, RuleCheck | undefined> {
  const nodes = yield* nodesWith(schema, ({ 'x-kubernetes-validations': rules = [] }) => rules.length > 0)
  const root = nodes.has(schema) ? yield* resourceDeclarationSteps(schema) : undefined
  if (root === undefined) return undefined
  size.nodes += nodes.size / 16 + root.count / 2
  const node = nodeOf(schema, root, { root, nodes, size })
  if (node === undefined) return undefined
  return function* (object, old, account) {
    const budget: RuleBudget = { left: requestBudget, effort: newEffort(), errors: [], account }
    const correlation = old === undefined ? undefined : { value: object, old, parent: undefined }
    yield* walk(node, [object, old], { path: '', correlation, isRoot: true }, budget)
    return budget.errors
  }
}

function nodeOf(
  schema: JSONSchemaProps,
  declaration: SchemaDeclaration | undefined,
  rules: Rules,
): RuleNode | undefined {
  const { root, nodes } = rules
  if (!nodes.has(schema)) return undefined
  const { 'x-kubernetes-validations': own = [], additionalProperties, items, properties } = schema
  const kind = listKind(schema)
  return {
    schema,
    declaration,
    rules: own.map(rule => lazyRule(rule, declaration, rules)),
    properties: new LazyMembers(properties, (property, name) => propertyNode(name, property, rules)),
    additional: isObject(additionalProperties)
      ? nodeOf(additionalProperties, root.of(additionalProperties), rules)
      : undefined,
    items: items === undefined ? undefined : nodeOf(items, root.of(items), rules),
    keyOf: kind.type === 'map' ? kind.keyOf : undefined,
  }
}

/** A rule that is compiled when it first runs. */
const lazyRule = (
  rule: ValidationRule,
  declaration: SchemaDeclaration | undefined,
  { root, size }: Rules,
): LazyRule =>
  new LazySteps(function* () {
    size.nodes += nodesOfRule + rule.rule.length / charactersOfNode
    return declaration === undefined ? undeclarable : yield* compileRuleSteps(rule, declaration, root)
  })

const undeclarable = 'failed to convert to declType for CEL validation rules'

/** Rules of a field without a declaration are skipped, unless only its name cannot be escaped. */
function propertyNode(key: string, property: JSONSchemaProps, rules: Rules): RuleNode | undefined {
  const declaration = rules.root.of(property)
  if (declaration === undefined && escapedName(key) !== undefined) return undefined
  return nodeOf(property, declaration, rules)
}

interface Place {
  readonly path: string
  readonly correlation: Correlation | undefined
  readonly isRoot?: boolean
}

function* walk(
  node: RuleNode,
  [value, old]: readonly [unknown, unknown],
  place: Place,
  budget: RuleBudget,
): Steps {
  if (value === null || value === undefined || budget.left < 0) return
  const { declaration, rules, schema } = node
  if (rules.length > 0)
    yield* runRules(
      { rules, type: schema.type ?? '', adapt: declaration?.adapt ?? (() => null) },
      [value, old],
      place,
      budget,
    )
  if (budget.left < 0) return
  if (Array.isArray(value)) yield* walkItems(node, [value, old], place, budget)
  else if (isObject(value)) yield* walkMembers(node, [value, old], place, budget)
}

function* walkItems(
  { items, keyOf }: RuleNode,
  [value, old]: readonly [readonly unknown[], unknown],
  place: Place,
  budget: RuleBudget,
): Steps {
  if (items === undefined) return
  const known =
    keyOf === undefined || !Array.isArray(old) ? undefined : new Map(old.map(item => [keyOf(item), item]))
  for (const [i, item] of value.entries()) {
    if (budget.left < 0) return
    const before = keyOf === undefined ? undefined : known?.get(keyOf(item))
    const correlation = correlationBelow(place.correlation, item, before)
    yield* walk(items, [item, before], { path: `${place.path}[${i}]`, correlation }, budget)
  }
}

function* walkMembers(
  { properties, additional }: RuleNode,
  [value, old]: readonly [Readonly<Record<string, unknown>>, unknown],
  place: Place,
  budget: RuleBudget,
): Steps {
  for (const [key, member] of Object.entries(value)) {
    if (budget.left < 0) return
    const own = properties.get(key)
    const node = own ?? additional
    if (node === undefined) continue
    const before = memberOf(old, key)
    // Old and new objects are converted to one version: changes of apiVersion and kind are not visible.
    const isType = place.isRoot === true && (key === 'apiVersion' || key === 'kind')
    const correlation = isType ? undefined : correlationBelow(place.correlation, member, before)
    const path = own !== undefined ? child(place.path, key) : `${place.path}[${key}]`
    yield* walk(node, [member, before], { path, correlation }, budget)
  }
}
