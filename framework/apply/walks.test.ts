import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { MergeSchema } from '../meta/mergeschema.ts'
import { equalSets, pathsOf } from './fieldpath/common.ts'
import { difference, type FieldSet, formatFields, isEmpty } from './fieldpath/fieldset.ts'
import { parseFields } from './fieldpath/parsefields.ts'
import { anyConfig, shapes } from './testing/shapes.ts'
import { compare } from './typed/compare.ts'
import { merge } from './typed/merge.ts'
import { removeItems } from './typed/remove.ts'
import { toFieldSet } from './typed/tofieldset.ts'
import { TypedError, typeOf } from './typed/types.ts'
import { validate } from './typed/validate.ts'
import { reconcile } from './update.ts'

const type = typeOf(shapes)
const isSame = (a: unknown, b: unknown): boolean => {
  const { removed, modified, added } = compare(type, a, b)
  return [removed, modified, added].every(isEmpty)
}
const texts = (set: FieldSet): readonly string[] => [...pathsOf(set)].map(path => path.join(' '))

describe('walks over typed values', () => {
  it('find no difference between a value and itself, and the same ones both ways', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (a, b) => {
        assert.ok(isSame(a, structuredClone(a)))
        const [there, back] = [compare(type, a, b), compare(type, b, a)]
        assert.ok(equalSets(there.added, back.removed))
        assert.ok(equalSets(there.removed, back.added))
        assert.ok(equalSets(there.modified, back.modified))
      }),
    )
  })

  it('merge a value into itself without a change, and a second time without another', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (live, config) => {
        assert.deepEqual(merge(type, live, live), live)
        const merged = merge(type, live, config)
        assert.deepEqual(merge(type, merged, config), merged)
      }),
    )
  })

  it('keep all configured and all other live fields', () => {
    fc.assert(
      fc.property(anyConfig, anyConfig, (live, config) => {
        const merged = merge(type, live, config)
        const { removed, modified } = compare(type, config, merged)
        assert.deepEqual([texts(removed), texts(modified)], [[], []])
        assert.deepEqual(texts(compare(type, live, merged).removed), [])
      }),
    )
  })

  it('remove exactly the owned fields', () => {
    fc.assert(
      fc.property(anyConfig, config => {
        const left = removeItems(type, config, toFieldSet(type, config)) ?? {}
        const still = difference(toFieldSet(type, left), toFieldSet(type, config))
        // Containers whose fields were all removed stay as empty containers.
        for (const path of pathsOf(still)) assert.match(path.at(-1) ?? '', /^f:/)
        assert.deepEqual(
          removeItems(type, config, parseFields({})),
          Object.keys(config).length === 0 ? null : config,
        )
      }),
    )
  })

  it('refuse values of the wrong type with a TypedError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        for (const run of [
          () => validate(type, { spec: a }),
          () => compare(type, { spec: a }, { spec: b }),
          () => merge(type, { spec: a }, { spec: b }),
          () => toFieldSet(type, { spec: a }),
        ])
          try {
            run()
          } catch (error) {
            assert.ok(error instanceof TypedError, String(error))
          }
      }),
      { numRuns: 500 },
    )
  })
})

describe('typed models', () => {
  it('declare the metadata of embedded resources, also where unknown fields are preserved', () => {
    const embedded: MergeSchema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }
    const type = typeOf({ type: 'object', properties: { x: embedded } })
    validate(type, { x: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { any: 1 } } })
    assert.throws(
      () => validate(type, { x: { metadata: { name: 'a', other: 1 } } }),
      (error: Error) => error.message === '.x.metadata.other: field not declared in schema',
    )
  })

  const owned = (schema: MergeSchema, value: unknown): string =>
    JSON.stringify(
      formatFields(toFieldSet(typeOf({ type: 'object', properties: { x: schema } }), { x: value })),
    )

  const cases: readonly [name: string, schema: MergeSchema, value: unknown, fields: string][] = [
    [
      'scalars of any kind for formats and int-or-string',
      { 'x-kubernetes-int-or-string': true },
      '5%',
      '{"f:x":{}}',
    ],
    ['lists are atomic by default', { type: 'array', items: { type: 'string' } }, ['a'], '{"f:x":{}}'],
    [
      'lists by the merge key of patches',
      {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-patch-strategy': 'merge',
        'x-kubernetes-patch-merge-key': 'name',
      },
      [{ name: 'a' }],
      '{"f:x":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}}}',
    ],
    [
      'keys by their defaults',
      {
        type: 'array',
        items: {
          type: 'object',
          properties: { p: { type: 'string', default: 'TCP' }, n: { type: 'integer' } },
        },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n', 'p'],
      },
      [{ n: 1 }],
      '{"f:x":{"k:{\\"n\\":1,\\"p\\":\\"TCP\\"}":{".":{},"f:n":{}}}}',
    ],
    ['atomic maps as a whole', { type: 'object', 'x-kubernetes-map-type': 'atomic' }, { a: 1 }, '{"f:x":{}}'],
    [
      'keys of maps, and no structs',
      { type: 'object', additionalProperties: { type: 'string' } },
      { a: 'b' },
      '{"f:x":{"f:a":{}}}',
    ],
    [
      'fields without a schema by their type',
      { type: 'object' },
      { a: { b: [1] } },
      '{"f:x":{"f:a":{".":{},"f:b":{}}}}',
    ],
    ['nulls and empty structs', { type: 'object', properties: { a: { type: 'string' } } }, {}, '{"f:x":{}}'],
    [
      'metadata of embedded resources',
      { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      { metadata: { finalizers: ['a/b'] } },
      '{"f:x":{"f:metadata":{"f:finalizers":{"v:\\"a/b\\"":{}}}}}',
    ],
  ]
  for (const [name, schema, value, fields] of cases)
    it(`own ${name}`, () => assert.equal(owned(schema, value), fields))

  it('own a list that has become atomic as a whole (5.49)', () => {
    const before = parseFields({
      'f:x': { '.': {}, 'f:a': {} },
      'f:l': { 'k:{"n":1}': { 'f:n': {} } },
      'f:y': { 'f:b': {} },
    })
    const now = typeOf({
      type: 'object',
      properties: {
        x: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
        l: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'object' } },
        y: { type: 'object', properties: { b: { type: 'string' } } },
      },
    })
    assert.deepEqual(formatFields(reconcile(before, now)), { 'f:l': {}, 'f:x': {}, 'f:y': { 'f:b': {} } })
  })
})
