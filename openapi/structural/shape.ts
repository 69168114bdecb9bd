import { isObject, type JsonType, typeOf } from '../../framework/formats/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { forbidden, invalidType } from '../../framework/meta/fielderror.ts'
import { maxSchemaDepth } from '../nodes/nodes.ts'
import { key } from './schema.ts'

/** Validates the JSON type of the value of a keyword. */
type Shape = (value: unknown, path: string, depth: number) => readonly FieldError[]

const mustBe =
  (...types: readonly JsonType[]): Shape =>
  (value, path) => {
    const actual = typeOf(value)
    return types.includes(actual)
      ? []
      : [invalidType(path, actual, `must be of type ${types.join(',')}: "${actual}"`)]
  }

const string = mustBe('string')
const boolean = mustBe('boolean')
const number = mustBe('number', 'integer')
const integer = mustBe('integer')

const listOf =
  (item: Shape): Shape =>
  (value, path, depth) =>
    Array.isArray(value)
      ? value.flatMap((each, i) => item(each, `${path}[${i}]`, depth))
      : mustBe('array')(value, path, depth)

const mapOf =
  (member: Shape): Shape =>
  (value, path, depth) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, each]) => member(each, key(path, name), depth))
      : mustBe('object')(value, path, depth)

const either =
  (other: (value: unknown) => boolean, shape: Shape): Shape =>
  (value, path, depth) =>
    other(value) ? [] : shape(value, path, depth)

const fields =
  (shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, path, depth) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, each]) =>
          Object.hasOwn(shapes, name) ? (shapes[name]?.(each, `${path}.${name}`, depth) ?? []) : [],
        )
      : mustBe('object')(value, path, depth)

const schema: Shape = (value, path, depth) =>
  depth === 0
    ? [forbidden(path, `must not be nested deeper than ${maxSchemaDepth} levels`)]
    : schemaFields(value, path, depth - 1)

const schemaOrBoolean = either(value => typeof value === 'boolean', schema)
const schemaOrList: Shape = (value, path, depth) =>
  Array.isArray(value) ? listOf(schema)(value, path, depth) : schema(value, path, depth)

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
  enum: listOf(() => []),
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
export const shapeErrors = (value: unknown, path: string): readonly FieldError[] =>
  schema(value, path, maxSchemaDepth)
