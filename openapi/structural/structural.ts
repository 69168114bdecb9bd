import { patternCost } from '../../framework/formats/pattern.ts'
import { type FieldError, fieldErrorBody } from '../../framework/meta/errors.ts'
import { child, forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ruleErrors } from '../expressions/ruleerrors.ts'
import { costOf, DefaultsAllowance, DefaultsLimitError, defaultLimits } from '../validation/defaulting.ts'
import { compilePruning, type Decodes, UnreadableError } from '../validation/pruning.ts'
import { CompiledChecks, compileCheck, validate } from '../validation/schema.ts'
import { completenessErrors, invariantErrors } from './invariants.ts'
import { keywordErrors } from './keywords.ts'
import { key, type RawSchema } from './schema.ts'
import { shapeErrors } from './shape.ts'

const textOf = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`

const compareTexts = (a: FieldError, b: FieldError): number => {
  const [left, right] = [textOf(a), textOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/**
 * Validates that a schema is structural (rules.md 7.10 to 7.16) and that its rules compile. A schema without errors can
 * be compiled. Accepts any JSON value; `path` is the path of the schema in errors.
 */
export function checkStructural(schema: unknown, path: string): readonly FieldError[] {
  const misshapen = shapeErrors(schema, path)
  if (misshapen.length > 0) return misshapen
  const raw = schema as RawSchema
  const structural = [...invariantErrors(raw, path), ...completenessErrors(raw, path)].sort(compareTexts)
  const keywords = keywordErrors(raw, path)
  if (structural.length > 0 || keywords.length > 0) return [...structural, ...keywords]
  const defaults = defaultErrors(schema as JSONSchemaProps, path)
  return defaults.length > 0 ? defaults : ruleErrors(schema as JSONSchemaProps, path)
}

/** The maximum cost of all patterns of one object, far above real CRDs. */
const maxTotal = 2_000_000

/** Walks any JSON value, and counts each `pattern`, even one that is not a keyword. */
function totalCost(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth === 0) return 0
  const { pattern } = value as { readonly pattern?: unknown }
  const own = typeof pattern === 'string' ? patternCost(pattern) : 0
  return Object.values(value).reduce((sum: number, below) => sum + totalCost(below, depth - 1), own)
}

/** Rejects schemas of any shape whose patterns would take too long to compile. */
export const patternCostErrors = (schemas: unknown, path: string): readonly FieldError[] =>
  totalCost(schemas, 500) > maxTotal
    ? [forbidden(path, 'total size of patterns exceeds the limit, use fewer or shorter patterns')]
    : []

/** Compiled parts of the same schema. */
interface Known {
  readonly checks: CompiledChecks
  readonly decodes: Decodes
  readonly allowance: DefaultsAllowance
}

const nothingKnown = (): Known => ({
  checks: new CompiledChecks(),
  decodes: new Map(),
  allowance: new DefaultsAllowance({ strict: true }),
})

/** Defaults must be valid and must not contain unknown fields (rules.md 7.16). The schema must be structural. */
export const defaultErrors = (
  schema: JSONSchemaProps,
  path: string,
  known: Known = nothingKnown(),
): readonly FieldError[] => {
  const { items, additionalProperties: other, properties = {}, default: value } = schema
  return [
    ...(value === undefined || value === null ? [] : valueErrors(schema, `${path}.default`, known)),
    ...(items === undefined ? [] : defaultErrors(items, `${path}.items`, known)),
    ...(typeof other === 'object' ? defaultErrors(other, `${path}.additionalProperties`, known) : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      defaultErrors(property, key(`${path}.properties`, name), known),
    ),
  ]
}

const tooManyDefaults = `must not add more than ${defaultLimits.values} values or ${defaultLimits.bytes} bytes, together with the defaults inside it`

function valueErrors(schema: JSONSchemaProps, path: string, known: Known): readonly FieldError[] {
  if (known.allowance.isSpent) return []
  const value = schema.default
  try {
    known.allowance.takes(costOf(value), () => path)
    const { unknown } = compilePruning(schema, { known: known.decodes, allowance: known.allowance })(value)
    const errors = validate(compileCheck(schema, known.checks), value)
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
