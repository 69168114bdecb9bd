import { Work } from '../../framework/json/json.ts'
import { append, keysOf } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** A schema of the right shape that can have keywords which structural schemas cannot have. */
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

/** Validates one schema at a path. */
export type RawSchemaCheck = (schema: RawSchema, path: string) => readonly FieldError[]

/** A walk over a schema in steps: what it has found, and when a step ends. */
export class SchemaWalk {
  readonly errors: FieldError[] = []
  readonly work = new Work()

  add(errors: readonly FieldError[]): void {
    append(this.errors, errors)
  }
}

/** The members of an object. */
export function* members<T>(
  object: Readonly<Record<string, T>> = {},
): Generator<readonly [name: string, value: T]> {
  for (const name of keysOf(object)) yield [name, object[name] as T]
}

export const key = (path: string, name: string): string => `${path}[${name}]`

export const isSchema = (value: unknown): value is RawSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `items` as one schema; undefined if absent or a (forbidden) array. */
export const itemsOf = (schema: RawSchema): RawSchema | undefined =>
  isSchema(schema.items) ? schema.items : undefined

export const additionalOf = (schema: RawSchema): RawSchema | undefined =>
  isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined

/** The schemas in anyOf, allOf, oneOf and not, with their paths. */
export function alternativesOf(
  schema: RawSchema,
  path: string,
): readonly (readonly [schema: RawSchema, path: string])[] {
  const listed = (['anyOf', 'allOf', 'oneOf'] as const).flatMap(keyword =>
    (schema[keyword] ?? []).map((s, i) => [s, `${path}.${keyword}[${i}]`] as const),
  )
  return schema.not === undefined ? listed : [...listed, [schema.not, `${path}.not`]]
}

/** The field of a schema at a path such as `.spec.color` or `['a.b']`. */
export interface FoundField {
  /** The field names of the path. */
  readonly names: readonly string[]
  readonly schema: RawSchema
}

/** Separators, quoted strings and names. */
const tokens = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g

/** What a path consists of: `.name` only, or also `['name']`. */
type PathNotation = 'dots' | 'dots and brackets'

/** Finds the field at a path in the structural part of a schema, or returns an error message of Kubernetes. */
export function findField(path: string, schema: RawSchema, notation: PathNotation): FoundField | string {
  const parts = path.match(tokens) ?? []
  let found: FoundField = { names: [], schema }
  for (let at = 0; at < parts.length; ) {
    const step = readName(parts, at, notation)
    if ('problem' in step) return step.problem
    const next = below(found.schema, step.name)
    if (next === undefined) return 'does not refer to a valid field'
    found = { names: [...found.names, step.name], schema: next }
    at = step.next
  }
  return found
}

type NameStep = { readonly name: string; readonly next: number } | { readonly problem: string }

function readName(parts: readonly string[], at: number, notation: PathNotation): NameStep {
  const [start, name, end] = parts.slice(at, at + 3)
  if (start === '.')
    return name === undefined ? { problem: 'unexpected end of JSON path' } : { name, next: at + 2 }
  if (start !== '[') return { problem: `expected [ or . but got: ${start}` }
  if (notation === 'dots') return { problem: 'array notation is not allowed' }
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
