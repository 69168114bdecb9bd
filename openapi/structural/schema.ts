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

/** Where a path such as `.spec.color` or `['a.b']` leads in a schema. */
export interface FoundField {
  /** The names on the way. */
  readonly names: readonly string[]
  readonly schema: RawSchema
}

/** Fields, brackets, and quoted text: everything between them is a name. */
const tokens = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g

/**
 * Follows a path of fields through the structural part of a schema: the field, or what is wrong in the words of
 * Kubernetes. `brackets` says whether `['name']` may be used.
 */
export function findField(path: string, schema: RawSchema, brackets: boolean): FoundField | string {
  const parts = path.match(tokens) ?? []
  let found: FoundField = { names: [], schema }
  for (let at = 0; at < parts.length; ) {
    const step = readName(parts, at, brackets)
    if ('problem' in step) return step.problem
    const next = below(found.schema, step.name)
    if (next === undefined) return 'does not refer to a valid field'
    found = { names: [...found.names, step.name], schema: next }
    at = step.next
  }
  return found
}

type NameStep = { readonly name: string; readonly next: number } | { readonly problem: string }

function readName(parts: readonly string[], at: number, brackets: boolean): NameStep {
  const [start, name, end] = parts.slice(at, at + 3)
  if (start === '.')
    return name === undefined ? { problem: 'unexpected end of JSON path' } : { name, next: at + 2 }
  if (start !== '[') return { problem: `expected [ or . but got: ${start}` }
  if (!brackets) return { problem: 'array notation is not allowed' }
  if (name === undefined || end === undefined) return { problem: 'unexpected end of JSON path' }
  if (!/^'.*'$/s.test(name)) return { problem: `expected single quoted string but got ${name}` }
  if (end !== ']') return { problem: `expected ] but got ${end}` }
  return { name: name.slice(1, -1).replace(/\\(.)/gs, '$1'), next: at + 3 }
}

const below = (schema: RawSchema, name: string): RawSchema | undefined =>
  schema.properties === undefined
    ? additionalOf(schema)
    : Object.hasOwn(schema.properties, name)
      ? schema.properties[name]
      : undefined
