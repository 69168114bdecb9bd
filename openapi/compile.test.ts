import assert from 'node:assert/strict'
import { StatusError } from '../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { compileSchema } from './compile.ts'

const string: JSONSchemaProps = { type: 'string' }
const schemaOf = (spec: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { spec } })
const objectOf = (spec: unknown, metadata: unknown = { name: 'a' }): KubeObject =>
  ({ apiVersion: 'e.io/v1', kind: 'Widget', metadata, spec }) as KubeObject

/** The decoded spec, and the unknown fields. */
function decode(spec: JSONSchemaProps, value: unknown): readonly [spec: unknown, unknown: readonly string[]] {
  const { object, unknown } = compileSchema(schemaOf(spec)).decode(objectOf(value))
  return [object.spec, unknown]
}

const refusal = (object: KubeObject, schema: JSONSchemaProps = schemaOf({ type: 'object' })): string => {
  try {
    compileSchema(schema).decode(object)
  } catch (error) {
    assert.ok(error instanceof StatusError)
    assert.equal(error.code, 400)
    return error.message
  }
  throw new Error('not refused')
}

describe('pruning', () => {
  const nested: JSONSchemaProps = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'object', properties: { x: string } } },
      text: string,
    },
  }

  it('drops unknown fields and names them, sorted, each once', () => {
    const value = { z: { deep: { er: 1 } }, list: [{ x: 'a', bar: 1 }, { 'f.o': 2 }], a: 1, text: 't' }
    assert.deepEqual(decode(nested, value), [
      { list: [{ x: 'a' }, {}], text: 't' },
      ['spec.a', 'spec.list[0].bar', 'spec.list[1].f.o', 'spec.z'],
    ])
  })

  it('returns the same object when nothing changes, and copies only changed parts', () => {
    const value = { list: [{ x: 'a' }], text: 't' }
    const object = Object.freeze(objectOf(Object.freeze(value)))
    const schema = compileSchema(schemaOf(nested))
    assert.equal(schema.decode(object).object, object)
    const changed = schema.decode(objectOf({ ...value, z: 1 })).object.spec as typeof value
    assert.equal(changed.list, value.list)
  })

  it('finds unknown fields where the value has another shape than the schema', () => {
    assert.deepEqual(decode({ type: 'object', properties: { a: string } }, { a: [{ b: 1 }, 2] }), [
      { a: [{}, 2] },
      ['spec.a[0].b'],
    ])
  })

  it('keeps unknown fields where the schema allows them, but not in specified fields', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { x: string } } },
    }
    assert.deepEqual(decode(schema, { any: { thing: null }, known: { x: 'a', y: 1 } }), [
      { any: { thing: null }, known: { x: 'a' } },
      ['spec.known.y'],
    ])
  })

  it('keeps unknown fields of items of a list that preserves them', () => {
    const schema: JSONSchemaProps = {
      type: 'array',
      'x-kubernetes-preserve-unknown-fields': true,
      items: { type: 'object', properties: { x: { type: 'object', properties: {} } } },
    }
    assert.deepEqual(decode(schema, [{ x: { u: 1 }, y: 2 }]), [[{ x: {}, y: 2 }], ['spec[0].x.u']])
  })

  it('keeps keys of maps, and empties objects in maps without a schema', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: {
        m: { type: 'object', additionalProperties: string },
        any: { type: 'object', additionalProperties: true },
      },
    }
    assert.deepEqual(decode(schema, { m: { a: 'b' }, any: { n: 1, o: { p: 1 } } }), [
      { m: { a: 'b' }, any: { n: 1, o: {} } },
      ['spec.any.o.p'],
    ])
  })

  it('accepts keys such as __proto__ and constructor', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"constructor":2,"text":"t","z":1}')
    const [spec, unknown] = decode({ ...nested, additionalProperties: true }, value)
    assert.equal(JSON.stringify(spec), '{"__proto__":{},"constructor":2,"text":"t","z":1}')
    assert.deepEqual(unknown, ['spec.__proto__.x'])
    assert.equal(Object.getPrototypeOf(spec), Object.prototype)
  })

  it('refuses deeply nested values, for every schema', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    assert.equal(
      refusal(objectOf(deep), schemaOf({ 'x-kubernetes-preserve-unknown-fields': true })),
      'Widget in version "v1" cannot be handled as a Widget: exceeded max depth',
    )
  })

  it('names as many unknown fields as an answer has room for', () => {
    const many = (count: number, key = ''): object =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${key}${i}`, 1]))
    const decoded = compileSchema(schemaOf({})).decode(objectOf({}, many(300_000)))
    assert.deepEqual(decoded.object.spec, {})
    for (const unknown of [decoded.unknown, decode(string, many(300_000))[1]])
      assert.ok(unknown.length > 50_000 && unknown.join('').length < 2 ** 20 + 100)
    assert.equal(decode(string, many(20_000, 'k'))[1].length, 20_000)
    const long = 'k'.repeat(20_000)
    const below = { type: 'object' as const, additionalProperties: string }
    assert.equal(decode(below, { [long]: many(20_000, 'k') })[1].length, 53)
  })

  it('refuses schemas that are nested too deep', () => {
    let schema = string
    for (let i = 0; i < 10_000; i++) schema = { type: 'array', items: schema }
    assert.throws(() => compileSchema(schemaOf(schema)).decode(objectOf(1)), /nested deeper than 200 levels/)
  })
})

describe('nulls and defaults', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      plain: string,
      nullable: { ...string, nullable: true },
      withDefault: { ...string, default: 'd' },
      object: { type: 'object', properties: { x: { type: 'integer', default: 1 } } },
      created: { type: 'object', default: {}, properties: { x: { type: 'integer', default: 1 } } },
    },
  }

  it('drops nulls that may not be, and fills in defaults', () => {
    assert.deepEqual(decode(schema, { plain: null, nullable: null, withDefault: null, object: {} })[0], {
      nullable: null,
      withDefault: 'd',
      object: { x: 1 },
      created: { x: 1 },
    })
  })

  it('creates no object that has no default itself', () => {
    assert.deepEqual(decode(schema, {})[0], { withDefault: 'd', created: { x: 1 } })
  })

  it('applies defaults to items and values of maps', () => {
    const item: JSONSchemaProps = { type: 'object', properties: { x: { ...string, default: 'd' } } }
    const both: JSONSchemaProps = {
      type: 'object',
      properties: { l: { type: 'array', items: item }, m: { type: 'object', additionalProperties: item } },
    }
    assert.deepEqual(decode(both, { l: [{}, null], m: { k: {}, n: null } })[0], {
      l: [{ x: 'd' }, null],
      m: { k: { x: 'd' } },
    })
  })

  it('does not change its input, and shares frozen defaults', () => {
    const input = objectOf({ plain: null })
    const { object } = compileSchema(schemaOf(schema)).decode(input)
    assert.deepEqual(input, objectOf({ plain: null }))
    assert.ok(Object.isFrozen((object.spec as Record<string, unknown>).created))
  })
})

describe('metadata', () => {
  const { decode: decodeObject } = compileSchema(schemaOf({ type: 'object' }))

  it('drops what ObjectMeta does not have', () => {
    const owner = { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u', strange: 1 }
    const given = {
      name: 'a',
      foo: 1,
      creationTimestamp: null,
      selfLink: '/x',
      ownerReferences: [owner],
      labels: { a: null },
    }
    const { object, unknown } = decodeObject(objectOf({}, given))
    const { strange: _, ...known } = owner
    assert.deepEqual(object.metadata, { name: 'a', ownerReferences: [known], labels: { a: '' } })
    assert.deepEqual(unknown, ['metadata.foo', 'metadata.ownerReferences[0].strange'])
  })

  it('is there even when it was not given', () => {
    for (const metadata of [null, undefined, {}])
      assert.deepEqual(decodeObject({ ...objectOf({}), metadata } as KubeObject).object.metadata, {})
  })

  it('keeps apiVersion, kind and unchanged metadata', () => {
    const given = {
      name: 'a',
      labels: { x: 'y' },
      finalizers: ['f'],
      managedFields: [{ fieldsV1: { 'f:a': {} } }],
    }
    const object = objectOf({}, given)
    assert.equal(decodeObject(object).object, object)
  })

  it('refuses fields of the wrong type in the words of Go', () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [
        { labels: { a: 1 } },
        'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
      [
        { labels: [] },
        'json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string',
      ],
      [{ name: true }, 'json: cannot unmarshal bool into Go struct field ObjectMeta.name of type string'],
      [
        { generation: '1' },
        'json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64',
      ],
      [
        { finalizers: [{}] },
        'json: cannot unmarshal object into Go struct field ObjectMeta.finalizers of type string',
      ],
      [
        { creationTimestamp: 'x' },
        'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
      ],
      ['x', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    ]
    for (const [metadata, problem] of cases)
      assert.equal(
        refusal(objectOf({}, metadata)),
        `Widget in version "v1" cannot be handled as a Widget: ${problem}`,
      )
  })

  it('is read in embedded resources too', () => {
    const embedded: JSONSchemaProps = {
      type: 'object',
      properties: {
        pod: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: string } },
      },
    }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', foo: 1 }, spec: 's', bar: 1 }
    assert.deepEqual(decode(embedded, { pod }), [
      { pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: 's' } },
      ['spec.pod.bar', 'spec.pod.metadata.foo'],
    ])
    assert.equal(
      refusal(objectOf({ pod: { kind: 5 } }), schemaOf(embedded)),
      'Widget in version "v1" cannot be handled as a Widget: spec.pod.kind: Invalid value: 5: must be a string',
    )
  })

  it('may have its names restricted', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 1 } } } },
    }
    assert.deepEqual(
      compileSchema(schema)
        .validate(objectOf({}, { name: 'ab' }))
        .map(e => e.field),
      ['metadata.name'],
    )
  })
})
