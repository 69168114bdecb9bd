import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { type FieldError, fieldErrorBody } from '../../framework/meta/errors.ts'
import { checkStructural } from './structural.ts'

const text = (error: FieldError): string => `${error.field}: ${fieldErrorBody(error)}`
const texts = (schema: unknown): readonly string[] => atOnce(checkStructural(schema, 's')).map(text)
/** The errors of a schema at `spec.a`, whose path is written `@`. */
const below = (a: unknown): readonly string[] =>
  texts({ type: 'object', properties: { a } }).map(t => t.replaceAll('s.properties[a]', '@'))

const string = { type: 'string' }
const object = { type: 'object' }
const list = (items: unknown, type: string, more: object = {}): object => ({
  type: 'array',
  'x-kubernetes-list-type': type,
  items,
  ...more,
})

describe('checkStructural', () => {
  it('accepts structural schemas', () => {
    const good: readonly object[] = [
      string,
      { 'x-kubernetes-int-or-string': true },
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
      },
      { 'x-kubernetes-preserve-unknown-fields': true },
      { type: 'object', additionalProperties: string },
      { type: 'object', additionalProperties: true },
      {
        type: 'object',
        properties: { b: string },
        oneOf: [{ required: ['b'] }, { properties: { b: { pattern: 'x' } } }],
      },
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      { ...string, default: 'x' },
      list(string, 'set'),
      list({ type: 'object', properties: { n: string }, required: ['n'] }, 'map', {
        'x-kubernetes-list-map-keys': ['n'],
      }),
      {
        type: 'object',
        properties: { b: string },
        'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
      },
    ]
    for (const schema of good) assert.deepEqual(below(schema), [], JSON.stringify(schema))
  })

  const cases: readonly (readonly [schema: unknown, ...texts: readonly string[]])[] = [
    [{}, '@.type: Required value: must not be empty for specified object fields'],
    [
      { type: 'array', items: {} },
      '@.items.type: Required value: must not be empty for specified array items',
    ],
    [{ type: 'array' }, '@.items: Required value: must be specified'],
    [
      { type: 'text' },
      '@.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      { ...string, pattern: '(?=a)' },
      '@.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
    [
      { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
      '@.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
    [
      { ...string, anyOf: [{ type: 'string', title: 't', description: 'd', default: 'x', nullable: true }] },
      '@.anyOf[0].default: Forbidden: must be undefined to be structural',
      '@.anyOf[0].description: Forbidden: must be empty to be structural',
      '@.anyOf[0].nullable: Forbidden: must be false to be structural',
      '@.anyOf[0].title: Forbidden: must be empty to be structural',
      '@.anyOf[0].type: Forbidden: must be empty to be structural',
    ],
    [
      { ...object, not: { additionalProperties: {} } },
      '@.not.additionalProperties: Forbidden: must be undefined to be structural',
    ],
    [
      { ...object, allOf: [{ 'x-kubernetes-preserve-unknown-fields': true }] },
      '@.allOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural',
    ],
    [
      { ...object, properties: { metadata: object }, anyOf: [{ properties: { metadata: {} } }] },
      '@.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
    ],
    [
      {
        type: 'string',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      '@.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    ],
    [
      { ...object, 'x-kubernetes-embedded-resource': true },
      '@.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
    [{ ...string, $ref: '#/x' }, '@.$ref: Forbidden: $ref is not supported'],
    [{ ...string, id: 'x' }, '@.id: Forbidden: id is not supported'],
    [{ ...object, definitions: { x: {} } }, '@.definitions: Forbidden: definitions is not supported'],
    [{ ...object, dependencies: { x: ['y'] } }, '@.dependencies: Forbidden: dependencies is not supported'],
    [
      { ...object, patternProperties: { x: {} } },
      '@.patternProperties: Forbidden: patternProperties is not supported',
    ],
    [
      { type: 'array', items: string, additionalItems: true },
      '@.additionalItems: Forbidden: additionalItems is not supported',
    ],
    [
      { type: 'array', items: [string] },
      '@.items: Forbidden: items must be a schema object and not an array',
    ],
    [
      { type: 'array', items: string, uniqueItems: true },
      '@.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      { ...object, properties: { b: string }, additionalProperties: string },
      '@.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [
      { 'x-kubernetes-preserve-unknown-fields': false, type: 'object' },
      '@.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
    ],
    [
      list(string, 'bag'),
      '@.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
    ],
    [
      { ...string, 'x-kubernetes-list-type': 'set' },
      '@.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
    [
      { ...string, 'x-kubernetes-map-type': 'atomic' },
      '@.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
    ],
    [
      { ...object, 'x-kubernetes-map-type': 'odd' },
      '@.x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"',
    ],
    [
      list(object, 'set'),
      '@.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
    [
      list(list(string, 'set'), 'set'),
      '@.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
    [
      list({ ...string, nullable: true }, 'set'),
      '@.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
    ],
    [
      list(string, 'atomic', { 'x-kubernetes-list-map-keys': ['n'] }),
      '@.x-kubernetes-list-type: Invalid value: "atomic": must be map if x-kubernetes-list-map-keys is non-empty',
    ],
    [
      list(object, 'map'),
      '@.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      list(string, 'map', { 'x-kubernetes-list-map-keys': ['n'] }),
      '@.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
    ],
    [
      list(object, 'map', { 'x-kubernetes-list-map-keys': ['n'] }),
      '@.x-kubernetes-list-map-keys: Invalid value: ["n"]: entries must all be names of item properties',
    ],
    [
      list({ ...object, properties: { n: string }, required: ['n'] }, 'map', {
        'x-kubernetes-list-map-keys': ['n', 'n'],
      }),
      '@.x-kubernetes-list-map-keys: Invalid value: ["n","n"]: must not contain duplicate entries',
    ],
    [
      list({ ...object, properties: { n: { ...string, nullable: true } } }, 'map', {
        'x-kubernetes-list-map-keys': ['n'],
      }),
      '@.items.properties[n].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      '@.items.properties[n].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: ' ' }] },
      '@.x-kubernetes-validations[0].rule: Required value: rule is not specified',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: 'a\nb' }] },
      '@.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: 'a', message: 'b\nc' }] },
      '@.x-kubernetes-validations[0].message: Invalid value: "b\\nc": must not contain line breaks',
    ],
    [
      { ...string, 'x-kubernetes-validations': [{ rule: 'a', reason: 'Odd' }] },
      '@.x-kubernetes-validations[0].reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    ],
    [
      { ...object, 'x-kubernetes-validations': [{ rule: 'a', fieldPath: '.b' }] },
      '@.x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path',
    ],
    [
      { ...string, default: 1 },
      '@.default: Invalid value: "integer":  in body must be of type string: "integer"',
    ],
    [
      { ...object, properties: { b: string }, default: { b: 1 } },
      '@.default.b: Invalid value: "integer": b in body must be of type string: "integer"',
    ],
    [
      { ...object, properties: { b: string }, default: { c: 1 } },
      '@.default: Invalid value: {"c":1}: must not have unknown fields',
    ],
    [
      {
        ...object,
        default: { metadata: 1 },
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      '@.default: Invalid value: {"metadata":1}: must result in valid metadata: json: cannot unmarshal number into Go value of type v1.ObjectMeta',
    ],
    [{ type: 5 }, '@.type: Invalid value: "integer": must be of type string: "integer"'],
    [{ ...object, properties: null }, '@.properties: Invalid value: "null": must be of type object: "null"'],
    [
      { ...object, required: [1] },
      '@.required[0]: Invalid value: "integer": must be of type string: "integer"',
    ],
    ['string', '@: Invalid value: "string": must be of type object: "string"'],
  ]
  for (const [schema, ...expected] of cases)
    it(expected[0] ?? '', () => assert.deepEqual(below(schema), expected))

  it('is not stopped by depth', () => {
    let deep: object = string
    for (let i = 0; i < 50_000; i++) deep = { type: 'array', items: deep }
    const [error] = atOnce(checkStructural({ type: 'object', properties: { a: deep } }, 's'))
    assert.match(
      error === undefined ? '' : text(error),
      /items: Forbidden: must not be nested deeper than 200 levels$/,
    )
  })

  it('takes time in proportion to the schema, with a default at every level', () => {
    const leaves = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, string]))
    let deep: object = { type: 'object', properties: leaves, default: {} }
    for (let i = 0; i < 90; i++) deep = { type: 'object', properties: { a: deep }, default: {} }
    assert.deepEqual(below(deep), [])
  })
})
