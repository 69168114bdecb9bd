import * as fc from 'fast-check'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

// Random structural schemas, and values that are often valid for them.

const names = ['a', 'b', 'c', 'constructor'] as const
const name = fc.constantFrom(...names)
const scalar = fc.oneof(
  fc.integer({ min: -4, max: 9 }),
  fc.constantFrom('', 'a', 'ab', 'b1', 'äöü', '😀😀'),
  fc.boolean(),
  fc.constantFrom(0.5, 2.25, -1.5),
)

/** Removes undefined members, so that optional keywords may be absent. */
const present = (schema: object): JSONSchemaProps =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

const size = fc.nat({ max: 3 })
const pattern = fc.constantFrom('^a', '[0-9]', 'b$', '^[a-z]*$')

/** Constraints on values inside allOf, anyOf, oneOf and not. */
const constraint: fc.Arbitrary<JSONSchemaProps> = fc.oneof(
  fc.record({ minimum: fc.integer({ min: -3, max: 5 }) }),
  fc.record({ maxLength: size }),
  fc.record({ pattern }),
  fc.record({ required: fc.uniqueArray(name, { maxLength: 2 }) }),
  fc.record({ minItems: size }),
  fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
)

const logic = fc.record({
  allOf: maybe(fc.array(constraint, { minLength: 1, maxLength: 2 })),
  anyOf: maybe(fc.array(constraint, { minLength: 1, maxLength: 3 })),
  oneOf: maybe(fc.array(constraint, { minLength: 1, maxLength: 3 })),
  not: maybe(constraint),
})

const text = fc.record({
  type: fc.constant('string'),
  minLength: maybe(size),
  maxLength: maybe(size),
  pattern: maybe(pattern),
})
const number = fc.record({
  type: fc.constantFrom('integer', 'number'),
  minimum: maybe(fc.integer({ min: -3, max: 5 })),
  exclusiveMinimum: maybe(fc.boolean()),
  maximum: maybe(fc.integer({ min: -3, max: 8 })),
  exclusiveMaximum: maybe(fc.boolean()),
  multipleOf: maybe(fc.integer({ min: 1, max: 4 })),
})
const enumeration = fc.record({
  type: fc.constant('string'),
  enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 'b1'), { minLength: 1 }),
})

const { schema: node } = fc.letrec<{
  schema: object
  leaf: object
  list: object
  map: object
  object: object
}>(tie => ({
  schema: fc
    .tuple(
      fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('list'), tie('map'), tie('object')),
      fc.option(logic, { nil: {}, freq: 3 }),
      maybe(fc.constant(true)),
    )
    .map(([base, more, nullable]) => ({ ...base, ...more, nullable: 'enum' in base ? undefined : nullable })),
  leaf: fc.oneof(text, number, enumeration, fc.constant({ type: 'boolean' })),
  list: fc.record({
    type: fc.constant('array'),
    items: tie('schema'),
    minItems: maybe(size),
    maxItems: maybe(size),
  }),
  map: fc.record({
    type: fc.constant('object'),
    additionalProperties: tie('schema'),
    minProperties: maybe(size),
    maxProperties: maybe(size),
  }),
  object: fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
    required: maybe(fc.uniqueArray(name, { maxLength: 2 })),
  }),
}))

const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  return present(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, tidy(member)])))
}

export const anySchema: fc.Arbitrary<JSONSchemaProps> = node.map(schema => tidy(schema) as JSONSchemaProps)

const anything = fc.oneof(
  scalar,
  fc.constant(null),
  fc.constant([]),
  fc.dictionary(name, scalar, { maxKeys: 2 }),
)

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'b1', 'abc', 'äöü', '😀😀', 'a b'),
  fc.string({ maxLength: 5 }),
)

/** Mostly values of the right type; one in eight is any value. */
export function valueFor(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 7, arbitrary: shaped(schema) }, { weight: 1, arbitrary: anything })
}

function shaped(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return texts
    case 'integer':
      return fc.integer({ min: -4, max: 9 })
    case 'number':
      return fc.oneof(fc.integer({ min: -4, max: 9 }), fc.constantFrom(0.5, 2.25))
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 3 })
    default:
      return objectFor(schema)
  }
}

function objectFor(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  if (typeof schema.additionalProperties === 'object')
    return fc.dictionary(name, valueFor(schema.additionalProperties), { maxKeys: 3 })
  const required = schema.required ?? []
  const members = Object.entries(schema.properties ?? {}).map(
    ([key, property]) => [key, valueFor(property)] as const,
  )
  return fc
    .tuple(
      fc.record(Object.fromEntries(members), {
        requiredKeys: required.filter(key => members.some(([k]) => k === key)),
      }),
      fc.dictionary(name, scalar, { maxKeys: 1 }),
    )
    .map(([own, strange]) => ({ ...strange, ...own }))
}
