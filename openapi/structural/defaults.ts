import type { FieldError } from '../../framework/meta/errors.ts'
import { child, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { compilePruning, type Decodes, UnreadableError } from '../validation/pruning.ts'
import { type CompiledChecks, compileCheck, validate } from '../validation/schema.ts'
import { key } from './schema.ts'

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
