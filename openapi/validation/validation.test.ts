import assert from 'node:assert/strict'
import { type FieldError, fieldErrorBody } from '../../framework/errors.ts'
import { compileSchema } from '../compile.ts'
import type { JSONSchemaProps } from '../jsonschema.ts'

const text = (error: FieldError): string => `${error.field || '<nil>'}: ${fieldErrorBody(error)}`

const objectOf = (a: unknown) => ({ apiVersion: 'e.io/v1', kind: 'W', metadata: {}, spec: { a } })
const schemaOf = (a: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { a }, ...more } },
})

/** The texts of all errors of `spec.a`. */
const errorsOf = (a: JSONSchemaProps, value: unknown): readonly string[] =>
  compileSchema(schemaOf(a)).validate(objectOf(value)).map(text)

const string: JSONSchemaProps = { type: 'string' }
const named: JSONSchemaProps = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: string, size: { type: 'integer' } }, required: ['name'] },
}

describe('validation texts (chapter 40, table 7.23)', () => {
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

describe('validation', () => {
  it('accepts what is valid', () => {
    const cases: readonly (readonly [JSONSchemaProps, unknown])[] = [
      [{ type: 'number' }, 1],
      [{ type: 'integer' }, 1.0],
      [{ type: 'integer' }, 9007199254740993n],
      [{ type: 'integer', minimum: 5, multipleOf: 3 }, 9007199254740993n],
      [{ type: 'number', multipleOf: 0.1 }, 0.3],
      [{ 'x-kubernetes-int-or-string': true }, 1],
      [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, '1'],
      [{ type: 'string', nullable: true }, null],
      [{ type: 'string', enum: ['a', null], nullable: true } as JSONSchemaProps, null],
      [{ type: 'string', maxLength: 2, minLength: 2 }, '😀😀'],
      [{ type: 'string', format: 'unheard-of' }, 'x'],
      [{ type: 'object', properties: { b: string }, not: { required: ['c'] } }, { b: 'x' }],
      [{ type: 'array', items: string, 'x-kubernetes-list-type': 'set' }, ['a', 'b']],
      [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { x: [1, { y: null }] }],
    ]
    for (const [schema, value] of cases) assert.deepEqual(errorsOf(schema, value), [])
  })

  it('finds no member where the prototype has one', () => {
    assert.deepEqual(errorsOf({ type: 'object', required: ['constructor'] }, {}), [
      'spec.a.constructor: Required value',
    ])
    const value = JSON.parse('{"__proto__":1,"constructor":"x"}')
    assert.deepEqual(errorsOf({ type: 'object', additionalProperties: string }, value), [
      'spec.a.__proto__: Invalid value: "integer": spec.a.__proto__ in body must be of type string: "integer"',
    ])
  })

  it('reports the alternative that came closest', () => {
    const deep: JSONSchemaProps = { properties: { b: { properties: { c: { enum: ['x'] } } } } }
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: { b: { type: 'object', properties: { c: string } } },
      oneOf: [{ required: ['z'] }, deep],
    }
    assert.equal(
      errorsOf(schema, { b: { c: 'y' } })[1],
      'spec.a.b.c: Unsupported value: "y": supported values: "x"',
    )
  })

  it('checks embedded resources', () => {
    const embedded: JSONSchemaProps = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }
    assert.deepEqual(errorsOf(embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'A_b' } }), [])
    assert.deepEqual(
      errorsOf(embedded, { apiVersion: 'a/b/c', metadata: { name: 'a/b', labels: { 'a b': '' } } }),
      [
        'spec.a.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'spec.a.kind: Required value',
        'spec.a.metadata.name: Invalid value: "a/b": may not contain \'/\'',
        "spec.a.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    )
  })

  it('finds duplicates below keys of maps, written as Kubernetes does', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      additionalProperties: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    }
    assert.deepEqual(errorsOf(schema, { 'x/y': ['a', 'a'] }), ['spec.a[x/y][1]: Duplicate value: "a"'])
  })
})

describe('validation of hostile objects', () => {
  it('stops at a thousand errors', () => {
    const many = Array.from({ length: 300_000 }, (_, i) => i >> 1)
    assert.equal(errorsOf({ type: 'array', items: string }, many).length, 1000)
    assert.equal(errorsOf({ type: 'array', 'x-kubernetes-list-type': 'set' }, many).length, 1000)
    assert.equal(errorsOf({ type: 'object', additionalProperties: string }, { ...many }).length, 1000)
  })

  it('finds what changed behind a thousand old errors', () => {
    const old = { x: Array.from({ length: 2000 }, () => 1), y: 'y' }
    const schema = compileSchema(
      schemaOf({ type: 'object', properties: { x: { type: 'array', items: string }, y: string } }),
    )
    const errors = schema.validate(objectOf({ ...old, y: 1 }), objectOf(old))
    assert.deepEqual(
      errors.map(e => e.field),
      ['spec.a.y'],
    )
  })

  it('limits the work of regular expressions', () => {
    const costly: JSONSchemaProps = { type: 'string', pattern: '[ab]*a[ab]{900}[cd]' }
    const texts = errorsOf({ type: 'array', items: costly }, ['ab'.repeat(20_000), 'ab'.repeat(40_000)])
    assert.equal(
      texts.at(-1),
      `spec.a[1]: Invalid value: "": spec.a[1] in body is too long to be matched against '[ab]*a[ab]{900}[cd]'`,
    )
  })
})

describe('ratcheting', () => {
  const short: JSONSchemaProps = { type: 'string', maxLength: 1 }
  const validate = (a: JSONSchemaProps, value: unknown, old: unknown): readonly string[] =>
    compileSchema(schemaOf(a))
      .validate({ ...objectOf(value), x: 1 }, objectOf(old))
      .map(text)

  it('forgives what has not changed', () => {
    assert.deepEqual(validate(short, 'long', 'long'), [])
    assert.deepEqual(validate(short, 'longer', 'long'), ['spec.a: Too long: may not be more than 1 byte'])
  })

  it('correlates fields and keys', () => {
    const map: JSONSchemaProps = { type: 'object', additionalProperties: short }
    assert.deepEqual(validate(map, { x: 'long', y: 'long' }, { x: 'long' }), [
      'spec.a.y: Too long: may not be more than 1 byte',
    ])
  })

  it('correlates lists of type map by their keys, wherever the item is now', () => {
    const list: JSONSchemaProps = {
      ...named,
      items: { type: 'object', properties: { name: string, size: { type: 'integer', maximum: 1 } } },
    }
    const old = [
      { name: 'a', size: 5 },
      { name: 'b', size: 5 },
    ]
    assert.deepEqual(
      validate(
        list,
        [
          { name: 'b', size: 5 },
          { name: 'a', size: 6 },
        ],
        old,
      ),
      ['spec.a[1].size: Invalid value: 6: spec.a[1].size in body should be less than or equal to 1'],
    )
  })

  it('compares other lists as a whole', () => {
    const list: JSONSchemaProps = { type: 'array', items: short }
    assert.deepEqual(validate(list, ['long'], ['long']), [])
    assert.equal(validate(list, ['long', 'x'], ['long']).length, 1)
  })

  it('keeps errors of the node itself when something below it changed', () => {
    const object: JSONSchemaProps = { type: 'object', properties: { b: string }, required: ['c'] }
    assert.deepEqual(validate(object, { b: 'y' }, { b: 'x' }), ['spec.a.c: Required value'])
    assert.deepEqual(validate(object, { b: 'x' }, { b: 'x' }), [])
  })

  it('tolerates duplicates only when there were some before', () => {
    assert.deepEqual(
      validate(named, [{ name: 'a' }, { name: 'a' }, { name: 'a' }], [{ name: 'b' }, { name: 'b' }]),
      [],
    )
    assert.equal(validate(named, [{ name: 'a' }, { name: 'a' }], [{ name: 'a' }]).length, 1)
  })

  it('never forgives apiVersion and kind', () => {
    const schema: JSONSchemaProps = { type: 'object', properties: { kind: { type: 'string', enum: ['X'] } } }
    const object = objectOf(1)
    assert.deepEqual(
      compileSchema(schema)
        .validate({ ...object, y: 1 }, object)
        .map(text),
      ['kind: Unsupported value: "W": supported values: "X"'],
    )
  })
})
