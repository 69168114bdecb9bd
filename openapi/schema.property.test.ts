import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { atOnce } from '../framework/json/json.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { compileSchema } from './compile.ts'
import { checkStructural } from './structural/structural.ts'
import { anySchema, valueFor } from './testing/arbitrary.ts'

const schemaOf = (spec: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { spec } })
const objectOf = (spec: unknown): KubeObject => ({ apiVersion: 'e.io/v1', kind: 'W', metadata: {}, spec })

/** As JSON has it: fast-check's objects have no prototype. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const schemaAndValue = anySchema.chain(schema =>
  valueFor(schema).map(value => ({ schema, value: plain(value) })),
)

/** JSON Schema of today writes exclusive bounds as numbers, and null as a type. */
function toJsonSchema(schema: JSONSchemaProps): object {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, nullable, type, ...rest } = schema
  const below = Object.entries(rest).map(([key, value]) => [key, translate(key, value)])
  return {
    ...Object.fromEntries(below),
    ...(type === undefined ? {} : { type: nullable === true ? [type, 'null'] : type }),
    ...(minimum === undefined ? {} : { [exclusiveMinimum ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum === undefined ? {} : { [exclusiveMaximum ? 'exclusiveMaximum' : 'maximum']: maximum }),
  }
}

function translate(key: string, value: unknown): unknown {
  if (['items', 'not', 'additionalProperties'].includes(key)) return toJsonSchema(value as JSONSchemaProps)
  if (['allOf', 'anyOf', 'oneOf'].includes(key)) return (value as JSONSchemaProps[]).map(toJsonSchema)
  if (key !== 'properties') return value
  return Object.fromEntries(Object.entries(value as object).map(([name, p]) => [name, toJsonSchema(p)]))
}

/** Kubernetes checks only type and enumeration of null; JSON Schema checks everything. */
const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value as object).some(hasNull))

describe('schemas, at random', () => {
  it('accept and refuse the same values as ajv', () => {
    const ajv = new Ajv({ strict: false, ownProperties: true, logger: false })
    fc.assert(
      fc.property(
        schemaAndValue.filter(({ value }) => !hasNull(value)),
        ({ schema, value }) => {
          const expected = ajv.compile(toJsonSchema(schema))(value)
          const errors = compileSchema(schemaOf(schema)).validate(objectOf(value))
          assert.equal(errors.length === 0, expected, JSON.stringify(errors))
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('are structural when they should be', () => {
    fc.assert(
      fc.property(anySchema, schema => assert.deepEqual(atOnce(checkStructural(schemaOf(schema), 's')), [])),
      { numRuns: 500 },
    )
  })

  it('decode to a fixed point without unknown fields, and never change their input', () => {
    fc.assert(
      fc.property(schemaAndValue, ({ schema, value }) => {
        const compiled = compileSchema(schemaOf(schema))
        const before = structuredClone(value)
        const once = compiled.decode(objectOf(value))
        assert.deepEqual(value, before)
        const twice = compiled.decode(once.object)
        assert.equal(twice.object, once.object)
        assert.deepEqual(twice.unknown, [])
      }),
      { numRuns: 1500 },
    )
  })

  it('never fail on any value, nor forgive a changed one', () => {
    fc.assert(
      fc.property(anySchema, fc.jsonValue(), fc.jsonValue(), (schema, value, old) => {
        const compiled = compileSchema(schemaOf(schema))
        const errors = compiled.validate(objectOf(value))
        assert.deepEqual(compiled.validate(objectOf(value), objectOf(value)), [])
        assert.ok(compiled.validate(objectOf(value), objectOf(old)).length <= errors.length)
      }),
      { numRuns: 1500 },
    )
  })

  it('are checked for structure whatever they are', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'additionalProperties',
      'allOf',
      'anyOf',
      'not',
      'default',
      'enum',
      'pattern',
      'required',
      'x-kubernetes-list-type',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-embedded-resource',
      'x-kubernetes-validations',
      'x-kubernetes-preserve-unknown-fields',
      'metadata',
      'object',
      '$ref',
    )
    const word = fc.oneof(
      keyword,
      fc.constantFrom('array', 'string', 'map', 'set', '[', true, false, null, 1),
    )
    const { raw } = fc.letrec<{ raw: unknown }>(tie => ({
      raw: fc.oneof(
        { maxDepth: 5 },
        word,
        fc.dictionary(keyword, tie('raw')),
        fc.array(tie('raw'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(raw, schema => {
        const errors = atOnce(checkStructural(schema, 's'))
        if (errors.length === 0) compileSchema(schema as JSONSchemaProps).decode(objectOf({ a: [1] }))
        assert.ok(errors.every(error => error.field.startsWith('s')))
      }),
      { numRuns: 3000 },
    )
  })
})
