import { isObject, type JsonType, typeOf } from '../../framework/json/values.ts'
import { forbidden, invalidType } from '../../framework/meta/fielderror.ts'
import { maxSchemaDepth } from '../nodes/nodes.ts'
import { key, members, type SchemaWalk } from './schema.ts'

/** The depth that a value may still have, and what was found so far. */
interface Visit {
  readonly walk: SchemaWalk
  readonly depth: number
}

/** Validates the JSON type of the value of a keyword: in steps where it has schemas or a list. */
type Shape = (value: unknown, path: string, visit: Visit) => Generator<void> | undefined

const mustBe =
  (...types: readonly JsonType[]): Shape =>
  (value, path, { walk }) => {
    const actual = typeOf(value)
    if (!types.includes(actual))
      walk.errors.push(invalidType(path, actual, `must be of type ${types.join(',')}: "${actual}"`))
    return undefined
  }

const string = mustBe('string')
const boolean = mustBe('boolean')
const number = mustBe('number', 'integer')
const integer = mustBe('integer')

const listOf =
  (item: Shape): Shape =>
  (value, path, visit) =>
    Array.isArray(value)
      ? each(value.entries(), i => [item, `${path}[${i}]`], visit)
      : mustBe('array')(value, path, visit)

const mapOf =
  (member: Shape): Shape =>
  (value, path, visit) =>
    isObject(value)
      ? each(members(value), name => [member, key(path, name)], visit)
      : mustBe('object')(value, path, visit)

const either =
  (other: (value: unknown) => boolean, shape: Shape): Shape =>
  (value, path, visit) =>
    other(value) ? undefined : shape(value, path, visit)

const fields =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, path, visit) =>
    isObject(value)
      ? each(
          members(value),
          name => [Object.hasOwn(shapes, name) ? shapes[name] : undefined, `${path}.${name}`],
          visit,
        )
      : mustBe('object')(value, path, visit)

function* each<K>(
  values: Iterable<readonly [key: K, value: unknown]>,
  shapeOf: (key: K) => readonly [shape: Shape | undefined, path: string],
  visit: Visit,
): Generator<void> {
  for (const [key, value] of values) {
    const [shape, path] = shapeOf(key)
    const below = shape?.(value, path, visit)
    if (below !== undefined) yield* below
    if (visit.walk.work.isStepDone()) yield
  }
}

const schema: Shape = (value, path, { walk, depth }) => {
  if (depth > 0) return schemaFields(value, path, { walk, depth: depth - 1 })
  walk.errors.push(forbidden(path, `must not be nested deeper than ${maxSchemaDepth} levels`))
  return undefined
}

const schemaOrBoolean = either(value => typeof value === 'boolean', schema)
const schemaOrList: Shape = (value, path, visit) =>
  Array.isArray(value) ? listOf(schema)(value, path, visit) : schema(value, path, visit)

const rule = fields({
  rule: string,
  message: string,
  messageExpression: string,
  reason: string,
  fieldPath: string,
  optionalOldSelf: boolean,
})

const schemaFields = fields({
  type: string,
  title: string,
  description: string,
  format: string,
  pattern: string,
  id: string,
  $ref: string,
  enum: mustBe('array'),
  nullable: boolean,
  uniqueItems: boolean,
  exclusiveMinimum: boolean,
  exclusiveMaximum: boolean,
  minimum: number,
  maximum: number,
  multipleOf: number,
  minLength: integer,
  maxLength: integer,
  minItems: integer,
  maxItems: integer,
  minProperties: integer,
  maxProperties: integer,
  required: listOf(string),
  properties: mapOf(schema),
  additionalProperties: schemaOrBoolean,
  items: schemaOrList,
  allOf: listOf(schema),
  anyOf: listOf(schema),
  oneOf: listOf(schema),
  not: schema,
  'x-kubernetes-preserve-unknown-fields': boolean,
  'x-kubernetes-embedded-resource': boolean,
  'x-kubernetes-int-or-string': boolean,
  'x-kubernetes-list-type': string,
  'x-kubernetes-list-map-keys': listOf(string),
  'x-kubernetes-map-type': string,
  'x-kubernetes-validations': listOf(rule),
})

/** Validates the JSON types of all keywords, and the depth of the schema. */
export function* checkShape(value: unknown, path: string, walk: SchemaWalk): Generator<void> {
  const below = schema(value, path, { walk, depth: maxSchemaDepth })
  if (below !== undefined) yield* below
}
