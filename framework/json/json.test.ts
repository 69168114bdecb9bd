import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonical, canonicalJson, parseJson } from './json.ts'
import { sameJson } from './same.ts'

const json = fc.jsonValue({ maxDepth: 4 })

/** The same value with the keys of every object in reverse order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  )
}

const isPlain = (value: unknown): boolean => !/"(__proto__|\d+)":/.test(JSON.stringify(value))

describe('canonicalJson and sameJson', () => {
  it('write and compare values whatever the order of their keys', () => {
    fc.assert(
      fc.property(json.filter(isPlain), value => {
        assert.equal(canonicalJson(turned(value)), canonicalJson(value))
        assert.ok(sameJson(turned(value), value))
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('agree on equality', () => {
    fc.assert(
      fc.property(json, json, (one, other) =>
        assert.equal(sameJson(one, other), canonicalJson(one) === canonicalJson(other)),
      ),
    )
  })

  it('omit undefined, and keep large integers', () => {
    assert.deepEqual(canonical({ b: { c: undefined }, a: undefined }), { b: {} })
    assert.deepEqual(canonical([-0, { a: -0 }, 1e16, 1e30, 1.5]), [0, { a: 0 }, 10n ** 16n, 1e30, 1.5])
    assert.ok(sameJson({ a: 1, b: undefined }, { a: 1 }))
    assert.ok(!sameJson({ a: 1, b: undefined }, { a: 1, b: null }))
    assert.ok(!sameJson({ a: 1, b: undefined }, { a: 1, c: 2 }))
    const large = parseJson(Buffer.from('{"b":9007199254740993,"a":{"d":1,"c":2}}'))
    assert.equal(canonicalJson(large), '{"a":{"c":2,"d":1},"b":9007199254740993}')
  })
})
