import assert from 'node:assert/strict'
import { atOnce, canonicalJson, Work } from '../json/json.ts'
import { sameJson, sameJsonSteps } from '../json/same.ts'
import { canonicalText } from './canonicaltext.ts'

const values: readonly unknown[] = [
  null,
  true,
  -0,
  1.5,
  2 ** 60,
  2n ** 63n - 1n,
  'a"\u2028<',
  [],
  {},
  [undefined, [1, [null]]],
  { b: 1, a: { d: [], c: undefined } },
  { a: { d: [] }, b: 1 },
  { a: { d: [0] }, b: 1 },
  { a: { d: [] }, b: 1, c: undefined },
  { a: { d: {} }, b: 1 },
]

describe('work on JSON in steps', () => {
  it('writes the canonical text', () => {
    for (const value of values) assert.equal(atOnce(canonicalText(value, 1_000)), canonicalJson(value))
  })

  it('writes no longer text than asked for', () => {
    const text = canonicalJson({ a: ['b'] })
    assert.equal(atOnce(canonicalText({ a: ['b'] }, text.length)), text)
    assert.equal(atOnce(canonicalText({ a: ['b'] }, text.length - 1)), undefined)
    assert.equal(atOnce(canonicalText({ a: 1, b: 2, c: 3 }, 14)), undefined)
  })

  it('compares values as at once', () => {
    for (const a of values)
      for (const b of values)
        assert.equal(atOnce(sameJsonSteps(a, b, new Work())), sameJson(a, b), `${canonicalJson([a, b])}`)
  })
})
