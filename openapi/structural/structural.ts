import { patternCost } from '../../framework/formats/patterncost.ts'
import { type Steps, sortedSteps, Work } from '../../framework/json/json.ts'
import { type JsonObject, keysOf } from '../../framework/json/values.ts'
import { type FieldError, fieldErrorBody } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { child, forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ruleErrors } from '../expressions/ruleerrors.ts'
import { costOf, DefaultsAllowance, DefaultsLimitError, defaultLimits } from '../validation/defaulting.ts'
import { compilePruning, type Decodes, UnreadableError } from '../validation/pruning.ts'
import { CompiledChecks, compileCheck, validateSteps } from '../validation/schema.ts'
import { checkCompleteness, checkInvariants } from './invariants.ts'
import { checkKeywords } from './keywords.ts'
import { key, members, type RawSchema, SchemaWalk } from './schema.ts'
import { checkShape } from './shape.ts'

const textOf = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`

/** The errors in the order of their texts, in steps. */
function* sorted(errors: readonly FieldError[]): Generator<void, readonly FieldError[]> {
  const texts = errors.map(error => ({ error, text: textOf(error) }))
  const inOrder = yield* sortedSteps(texts, (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return inOrder.map(({ error }) => error)
}

/**
 * Validates that a schema is structural (rules.md 7.10 to 7.16) and that its rules compile, in steps. A schema without errors can
 * be compiled. Accepts any JSON value; `path` is the path of the schema in errors.
 */
export function* checkStructural(schema: unknown, path: string): ErrorSteps {
  const shape = new SchemaWalk()
  yield* checkShape(schema, path, shape)
  if (shape.errors.length > 0) return shape.errors
  const raw = schema as RawSchema
  const invariants = new SchemaWalk()
  yield* checkInvariants(raw, path, invariants)
  yield* checkCompleteness(raw, path, invariants)
  const keywords = new SchemaWalk()
  yield* checkKeywords(raw, path, keywords)
  const errors = [...(yield* sorted(invariants.errors)), ...keywords.errors]
  if (errors.length > 0) return errors
  const defaults = yield* defaultErrors(schema as JSONSchemaProps, path)
  return defaults.length > 0 ? defaults : yield* ruleErrors(schema as JSONSchemaProps, path)
}

/** The maximum cost of all patterns of one object, far above real CRDs. */
const maxTotal = 500_000

/** Walks any JSON value, and counts each `pattern`, even one that is not a keyword. */
function* totalCost(value: unknown, depth: number, work: Work): Generator<void, number> {
  if (typeof value !== 'object' || value === null || depth === 0) return 0
  const { pattern } = value as { readonly pattern?: unknown }
  let cost = typeof pattern === 'string' ? patternCost(pattern) : 0
  for (const name of keysOf(value)) {
    const below = (value as JsonObject)[name]
    if (typeof below === 'object') cost += yield* totalCost(below, depth - 1, work)
    if (work.isStepDone()) yield
  }
  return cost
}

/** Rejects schemas of any shape whose patterns would take too long to compile, in steps. */
export function* patternCostErrors(schemas: unknown, path: string): Generator<void, readonly FieldError[]> {
  const cost = yield* totalCost(schemas, 500, new Work())
  const text = 'total size of patterns exceeds the limit, use fewer or shorter patterns'
  return cost > maxTotal ? [forbidden(path, text)] : []
}

/** Compiled parts of the same schema. */
interface Known {
  readonly checks: CompiledChecks
  readonly decodes: Decodes
  readonly allowance: DefaultsAllowance
}

/** Defaults must be valid and must not contain unknown fields (rules.md 7.16). The schema must be structural. */
function* defaultErrors(schema: JSONSchemaProps, path: string): ErrorSteps {
  const walk = new SchemaWalk()
  const known: Known = {
    checks: new CompiledChecks(),
    decodes: new Map(),
    allowance: new DefaultsAllowance({ strict: true }),
  }
  yield* checkDefaults(schema, path, walk, known)
  return walk.errors
}

function* checkDefaults(schema: JSONSchemaProps, path: string, walk: SchemaWalk, known: Known): Steps {
  const { items, additionalProperties: other, properties, default: value } = schema
  if (value !== undefined && value !== null) {
    walk.add(yield* valueErrors(schema, `${path}.default`, known))
    yield
  }
  if (walk.work.isStepDone()) yield
  if (items !== undefined) yield* checkDefaults(items, `${path}.items`, walk, known)
  if (typeof other === 'object') yield* checkDefaults(other, `${path}.additionalProperties`, walk, known)
  for (const [name, property] of members(properties))
    yield* checkDefaults(property, key(`${path}.properties`, name), walk, known)
}

const tooManyDefaults = `must not add more than ${defaultLimits.values} values or ${defaultLimits.bytes} bytes, together with the defaults inside it`

function* valueErrors(schema: JSONSchemaProps, path: string, known: Known): ErrorSteps {
  if (known.allowance.isSpent) return []
  const value = schema.default
  try {
    known.allowance.takes(costOf(value), () => path)
    const allowance = () => known.allowance
    const { unknown } = compilePruning(schema, { known: known.decodes, allowance })(value)
    const errors = yield* validateSteps(compileCheck(schema, known.checks), value)
    return [
      ...(unknown.length === 0 ? [] : [invalidValue(path, value, 'must not have unknown fields')]),
      ...errors.map(error => ({ ...error, field: error.field === '' ? path : child(path, error.field) })),
    ]
  } catch (error) {
    if (error instanceof DefaultsLimitError) return [forbidden(path, tooManyDefaults)]
    if (!(error instanceof UnreadableError)) throw error
    return [invalidValue(path, value, `must result in valid metadata: ${error.message}`)]
  }
}
