import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { compileSchema } from '../compile.ts'
import { errorsOf, named, objectOf, schemaOf, string } from './testing/errors.ts'

describe('validation texts (rules.md 7.23)', () => {
  const rows: readonly (readonly [rule: string, schema: JSONSchemaProps, value: unknown, texts: string[]])[] =
    [
      [
        'type',
        string,
        1,
        ['spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"'],
      ],
      [
        'type',
        string,
        1.5,
        ['spec.a: Invalid value: "number": spec.a in body must be of type string: "number"'],
      ],
      [
        'type',
        string,
        true,
        ['spec.a: Invalid value: "boolean": spec.a in body must be of type string: "boolean"'],
      ],
      [
        'type',
        string,
        {},
        ['spec.a: Invalid value: "object": spec.a in body must be of type string: "object"'],
      ],
      [
        'type',
        string,
        [],
        ['spec.a: Invalid value: "array": spec.a in body must be of type string: "array"'],
      ],
      [
        'type',
        string,
        null,
        ['spec.a: Invalid value: "null": spec.a in body must be of type string: "null"'],
      ],
      [
        'type integer',
        { type: 'integer' },
        1.5,
        ['spec.a: Invalid value: "number": spec.a in body must be of type integer: "number"'],
      ],
      [
        'type integer',
        { type: 'integer' },
        '1',
        ['spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"'],
      ],
      [
        'type with format',
        { type: 'string', format: 'date' },
        1,
        ['spec.a: Invalid value: "int64": spec.a in body must be of type date: "int64"'],
      ],
      [
        'int-or-string',
        { 'x-kubernetes-int-or-string': true },
        true,
        ['spec.a: Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"'],
      ],
      [
        'enum',
        { type: 'string', enum: ['a', 'b'] },
        'x',
        ['spec.a: Unsupported value: "x": supported values: "a", "b"'],
      ],
      [
        'enum of numbers',
        { type: 'integer', enum: [1, 2] },
        3,
        ['spec.a: Unsupported value: 3: supported values: "1", "2"'],
      ],
      [
        'pattern',
        { type: 'string', pattern: '^a+$' },
        'x',
        [`spec.a: Invalid value: "x": spec.a in body should match '^a+$'`],
      ],
      [
        'minLength',
        { type: 'string', minLength: 3 },
        'äß',
        ['spec.a: Invalid value: "äß": spec.a in body should be at least 3 chars long'],
      ],
      [
        'maxLength',
        { type: 'string', maxLength: 3 },
        '😀😀😀😀',
        ['spec.a: Too long: may not be more than 3 bytes'],
      ],
      [
        'maxLength 1',
        { type: 'string', maxLength: 1 },
        'ab',
        ['spec.a: Too long: may not be more than 1 byte'],
      ],
      [
        'minimum',
        { type: 'integer', minimum: 1 },
        0,
        ['spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1'],
      ],
      [
        'exclusive minimum',
        { type: 'number', minimum: 0.5, exclusiveMinimum: true },
        0.5,
        ['spec.a: Invalid value: 0.5: spec.a in body should be greater than 0.5'],
      ],
      [
        'maximum',
        { type: 'integer', maximum: 5 },
        6,
        ['spec.a: Invalid value: 6: spec.a in body should be less than or equal to 5'],
      ],
      [
        'exclusive maximum',
        { type: 'integer', maximum: 5, exclusiveMaximum: true },
        5,
        ['spec.a: Invalid value: 5: spec.a in body should be less than 5'],
      ],
      [
        'multipleOf',
        { type: 'integer', multipleOf: 3 },
        4,
        ['spec.a: Invalid value: 4: spec.a in body should be a multiple of 3'],
      ],
      [
        'minItems',
        { type: 'array', items: string, minItems: 2 },
        ['x'],
        ['spec.a: Invalid value: 1: spec.a in body should have at least 2 items'],
      ],
      [
        'maxItems',
        { type: 'array', items: string, maxItems: 1 },
        ['x', 'y'],
        ['spec.a: Too many: 2: must have at most 1 item'],
      ],
      [
        'maxItems',
        { type: 'array', items: string, maxItems: 2 },
        ['x', 'y', 'z'],
        ['spec.a: Too many: 3: must have at most 2 items'],
      ],
      [
        'minProperties',
        { type: 'object', additionalProperties: string, minProperties: 1 },
        {},
        ['spec.a: Invalid value: 0: spec.a in body should have at least 1 properties'],
      ],
      [
        'maxProperties',
        { type: 'object', additionalProperties: string, maxProperties: 0 },
        { x: '' },
        ['spec.a: Too many: 1: must have at most 0 items'],
      ],
      [
        'format',
        { type: 'string', format: 'date-time' },
        'now',
        ['spec.a: Invalid value: "now": spec.a in body must be of type date-time: "now"'],
      ],
      [
        'int32',
        { type: 'integer', format: 'int32' },
        2 ** 31,
        ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.a'],
      ],
      [
        'items',
        { type: 'array', items: string },
        ['x', 2],
        ['spec.a[1]: Invalid value: "integer": spec.a[1] in body must be of type string: "integer"'],
      ],
      [
        'map values',
        { type: 'object', additionalProperties: string },
        { k: 2 },
        ['spec.a.k: Invalid value: "integer": spec.a.k in body must be of type string: "integer"'],
      ],
      [
        'required',
        { type: 'object', properties: { b: string }, required: ['b'] },
        {},
        ['spec.a.b: Required value'],
      ],
      [
        'not',
        { type: 'string', not: { enum: ['x'] } },
        'x',
        ['<nil>: Invalid value: "": "spec.a" must not validate the schema (not)'],
      ],
      [
        'anyOf',
        { type: 'string', anyOf: [{ minLength: 3 }, { pattern: '^x' }] },
        'a',
        [
          '<nil>: Invalid value: "": "spec.a" must validate at least one schema (anyOf)',
          'spec.a: Invalid value: "a": spec.a in body should be at least 3 chars long',
        ],
      ],
      [
        'oneOf, none',
        { type: 'string', oneOf: [{ minLength: 3 }, { pattern: '^x' }] },
        'a',
        [
          '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found none valid',
          'spec.a: Invalid value: "a": spec.a in body should be at least 3 chars long',
        ],
      ],
      [
        'oneOf, two',
        { type: 'string', oneOf: [{ minLength: 1 }, { pattern: '^x' }] },
        'x',
        [
          '<nil>: Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        ],
      ],
      [
        'allOf',
        { type: 'string', allOf: [{ minLength: 3 }] },
        'x',
        [
          'spec.a: Invalid value: "x": spec.a in body should be at least 3 chars long',
          '<nil>: Invalid value: "": "spec.a" must validate all the schemas (allOf). None validated',
        ],
      ],
      [
        'set',
        { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
        ['a', 'b', 'a', 'a'],
        ['spec.a[2]: Duplicate value: "a"'],
      ],
      ['map', named, [{ name: 'a' }, { name: 'a', size: 1 }], ['spec.a[1]: Duplicate value: {"name":"a"}']],
    ]
  for (const [rule, schema, value, texts] of rows)
    it(`${rule}: ${texts[0]}`, () => assert.deepEqual(errorsOf(schema, value), texts))

  it('gives each rule its reason', () => {
    const reasonOf = (schema: JSONSchemaProps, value: unknown): string | undefined =>
      compileSchema(schemaOf(schema)).validate(objectOf(value))[0]?.type
    assert.equal(reasonOf(string, 1), 'FieldValueTypeInvalid')
    assert.equal(reasonOf({ type: 'string', enum: ['a'] }, 'b'), 'FieldValueNotSupported')
    assert.equal(reasonOf({ type: 'string', pattern: 'a' }, 'b'), 'FieldValueInvalid')
    assert.equal(reasonOf({ type: 'string', format: 'date' }, 'b'), 'FieldValueTypeInvalid')
    assert.equal(reasonOf({ type: 'string', maxLength: 0 }, 'b'), 'FieldValueTooLong')
    assert.equal(reasonOf({ type: 'array', items: string, maxItems: 0 }, ['b']), 'FieldValueTooMany')
    assert.equal(reasonOf(named, [{ name: 'a' }, { name: 'a' }]), 'FieldValueDuplicate')
    assert.equal(reasonOf({ type: 'object', required: ['b'] }, {}), 'FieldValueRequired')
  })
})
