import { type FieldError, fieldErrorBody } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ruleErrors } from '../expressions/ruleerrors.ts'
import { completenessErrors } from './completeness.ts'
import { defaultErrors } from './defaults.ts'
import { invariantErrors } from './invariants.ts'
import { keywordErrors } from './keywords.ts'
import type { RawSchema } from './schema.ts'
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
