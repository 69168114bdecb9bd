import { patternCost } from '../../framework/formats/pattern.ts'
import { type FieldError, fieldErrorBody } from '../../framework/meta/errors.ts'
import { child, forbidden, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ruleErrors } from '../expressions/ruleerrors.ts'
import { compilePruning, type Decodes, UnreadableError } from '../validation/pruning.ts'
import { type CompiledChecks, compileCheck, validate } from '../validation/schema.ts'
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
 * What keeps a schema from being structural (chapter 40, section 7.2), and what is wrong with its rules: nothing when the
 * list is empty, and then the schema can be compiled. Takes any JSON value; `path` is where the schema is, for the errors.
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

/** What the patterns of one object may cost together; real CRDs stay far below. */
const maxTotal = 2_000_000

/** Walks any JSON value: what is called `pattern` may be something else, and is counted all the same. */
function totalCost(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null || depth === 0) return 0
  const { pattern } = value as { readonly pattern?: unknown }
  const own = typeof pattern === 'string' ? patternCost(pattern) : 0
  return Object.values(value).reduce((sum: number, below) => sum + totalCost(below, depth - 1), own)
}

/** Compiling patterns takes time: refused before it starts when there are too many (for schemas of any shape). */
export const patternCostErrors = (schemas: unknown, path: string): readonly FieldError[] =>
  totalCost(schemas, 500) > maxTotal ? [forbidden(path, 'the regular expressions are too large')] : []

/** What has been compiled for other defaults of the same schema. */
interface Known {
  readonly checks: CompiledChecks
  readonly decodes: Decodes
}

/** Defaults must be valid, and hold nothing that would be pruned (chapter 40, rule 7.16). For structural schemas. */
export const defaultErrors = (
  schema: JSONSchemaProps,
  path: string,
  known: Known = { checks: new Map(), decodes: new Map() },
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

function valueErrors(schema: JSONSchemaProps, path: string, known: Known): readonly FieldError[] {
  const value = schema.default
  try {
    const { unknown } = compilePruning(schema, { known: known.decodes })(value)
    const errors = validate(compileCheck(schema, known.checks), value)
    return [
      ...(unknown.length === 0 ? [] : [invalidValue(path, value, 'must not have unknown fields')]),
      ...errors.map(error => ({ ...error, field: error.field === '' ? path : child(path, error.field) })),
    ]
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    return [invalidValue(path, value, `must result in valid metadata: ${error.message}`)]
  }
}
