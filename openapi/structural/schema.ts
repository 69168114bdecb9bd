import type { FieldError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** A schema as a client may send it: well typed, but with what no structural schema may have. */
export interface RawSchema extends Omit<JSONSchemaProps, 'type' | SchemaKeyword> {
  readonly type?: string
  readonly properties?: Readonly<Record<string, RawSchema>>
  readonly additionalProperties?: RawSchema | boolean
  readonly items?: RawSchema | readonly RawSchema[]
  readonly allOf?: readonly RawSchema[]
  readonly anyOf?: readonly RawSchema[]
  readonly oneOf?: readonly RawSchema[]
  readonly not?: RawSchema
  readonly id?: string
  readonly $ref?: string
  readonly definitions?: unknown
  readonly dependencies?: unknown
  readonly patternProperties?: unknown
  readonly additionalItems?: unknown
}

type SchemaKeyword = 'properties' | 'additionalProperties' | 'items' | 'allOf' | 'anyOf' | 'oneOf' | 'not'

/** Checks one schema at a path. */
export type RawSchemaCheck = (schema: RawSchema, path: string) => readonly FieldError[]

export const key = (path: string, name: string): string => `${path}[${name}]`

export const isSchema = (value: unknown): value is RawSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `items` as one schema; undefined when absent or in the forbidden form of an array. */
export const itemsOf = (schema: RawSchema): RawSchema | undefined =>
  isSchema(schema.items) ? schema.items : undefined

export const additionalOf = (schema: RawSchema): RawSchema | undefined =>
  isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined

/** The schemas that constrain the same value again, with their paths. */
export function alternativesOf(
  schema: RawSchema,
  path: string,
): readonly (readonly [schema: RawSchema, path: string])[] {
  const listed = (['anyOf', 'allOf', 'oneOf'] as const).flatMap(keyword =>
    (schema[keyword] ?? []).map((s, i) => [s, `${path}.${keyword}[${i}]`] as const),
  )
  return schema.not === undefined ? listed : [...listed, [schema.not, `${path}.not`]]
}
