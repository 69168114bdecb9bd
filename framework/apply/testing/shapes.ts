import fc from 'fast-check'
import type { MergeSchema } from '../../meta/mergeschema.ts'
import { wholeSchema } from '../../meta/objectmeta.ts'

const text: MergeSchema = { type: 'string' }

/** A kind with every shape that is merged in its own way. */
export const shapes: MergeSchema = wholeSchema({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        color: text,
        size: { type: 'integer' },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        whole: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: text },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: text, port: { type: 'integer' } } },
        },
        limits: { type: 'object', additionalProperties: text },
        one: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        deep: { type: 'object', properties: { er: { type: 'object', properties: { x: text, y: text } } } },
      },
    },
    status: { type: 'object', properties: { phase: text } },
  },
})

const word = fc.constantFrom('a', 'b', 'c')
const words = fc.uniqueArray(word)
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined })

/** Without members that are undefined, as JSON is. */
const record = (
  model: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Readonly<Record<string, unknown>>> =>
  fc
    .record(Object.fromEntries(Object.entries(model).map(([key, value]) => [key, optional(value)])))
    .map(members => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)))

const port = fc.tuple(word, optional(fc.integer({ min: 0, max: 3 })))

/** A spec that fits; nothing in it is empty, so that nothing vanishes in a merge. */
export const anySpec = record({
  color: word,
  size: fc.integer({ min: 0, max: 3 }),
  tags: fc.uniqueArray(word, { minLength: 1 }),
  whole: words,
  ports: fc
    .uniqueArray(port, { selector: ([name]) => name, minLength: 1 })
    .map(ports => ports.map(([name, port]) => (port === undefined ? { name } : { name, port }))),
  limits: fc.dictionary(word, word, { minKeys: 1, noNullPrototype: true }),
  one: record({ a: word, b: word }),
  free: fc.dictionary(word, fc.constantFrom({ q: 1 }, { q: 2 }, { r: 1 }), {
    minKeys: 1,
    noNullPrototype: true,
  }),
  deep: word.map(x => ({ er: { x } })),
})

/** An object without metadata that fits. */
export const anyConfig = anySpec.map(spec => (Object.keys(spec).length === 0 ? {} : { spec }))
