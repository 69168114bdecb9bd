import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce } from '../json/json.ts'
import type { KubeObject, Metadata } from '../meta/object.ts'
import { canonicalObject, encodeCanonical, hasMany } from './encode.ts'
import { canonicalObjectSteps, encodeCanonicalSteps } from './encodesteps.ts'
import { canonicalSteps, JsonPieces } from './jsonpieces.ts'

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', '10', '9', '4000000000', 'a'))
const leaf = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt(),
  fc.constantFrom(null, true, -0, 2 ** 60),
)
const { value: anyValue } = fc.letrec(tie => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(key, tie('value'))),
}))
const many = Array.from({ length: 600 }, (_, i) => i)
const texts = fc.dictionary(key, fc.string())
const text = fc.constantFrom(undefined, '', '7')

/** An object that is encoded in steps at some depth. */
const object = fc
  .record({
    value: anyValue,
    labels: texts,
    annotations: texts,
    resourceVersion: text,
    uid: text,
    large: fc.boolean(),
  })
  .map(({ value, large, ...metadata }): KubeObject => {
    const more = Object.fromEntries(many.map(i => [`k${i}`, 'v']))
    const kept = Object.fromEntries(Object.entries(metadata).filter(([, each]) => each !== undefined))
    const annotations = large ? { ...metadata.annotations, ...more } : metadata.annotations
    const inside = { zz: [many, value, undefined], aa: { value, gone: undefined, many }, value }
    return { apiVersion: 'v1', kind: 'K', metadata: { ...kept, annotations } as Metadata, ...inside }
  })

describe('steps of encoding', () => {
  it('give the canonical object, and its bytes and offsets', () => {
    fc.assert(
      fc.property(object, object => {
        const canonical = canonicalObject(object)
        const { bytes, offsets } = encodeCanonical(canonical)
        assert.deepStrictEqual(atOnce(canonicalObjectSteps(object)), canonical)
        const inSteps = atOnce(encodeCanonicalSteps(canonical))
        assert.equal(inSteps.bytes.toString(), bytes.toString())
        assert.deepEqual(inSteps.offsets, offsets)
      }),
    )
  })

  it('keep what is canonical already', () => {
    const value = { a: many, b: { c: many } }
    assert.equal(atOnce(canonicalSteps(value)), value)
    assert.equal(hasMany(value), true)
    assert.equal(hasMany({ a: many.slice(0, 500) }), false)
  })

  it('list the members of a large map once to find that it is large', () => {
    let lists = 0
    const members = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k${i}`, '']))
    const ownKeys = (of: object): (string | symbol)[] => {
      lists++
      return Reflect.ownKeys(of)
    }
    const data = new Proxy(members, { ownKeys })
    assert.equal(hasMany({ kind: 'A', data }), true)
    const before = lists
    assert.equal(hasMany({ kind: 'B', data }), true)
    assert.equal(hasMany(data), true)
    assert.equal(lists, before)
  })

  it('are many for a large object, and one for a small one', () => {
    const stepsOf = (value: unknown): number =>
      [...canonicalSteps(value), ...new JsonPieces().value(value)].length
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${20_000 - i}`, '']))
    assert.ok(stepsOf({ data }) > 100)
    assert.ok(stepsOf({ list: Object.keys(data) }) > 100)
    assert.equal(stepsOf({ data: { a: 'x'.repeat(1_000_000) } }), 0)
  })
})
