import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce, formatJson } from './json.ts'
import { jsonBytes } from './jsonbytes.ts'

const written = (value: unknown): string => atOnce(jsonBytes(value)).toString()

function stepsOf(value: unknown): number {
  let count = 0
  for (const _ of jsonBytes(value)) count++
  return count
}

const many = <T>(item: (i: number) => T): readonly T[] => Array.from({ length: 20_000 }, (_, i) => item(i))

describe('JSON that is encoded in steps', () => {
  it('is the JSON that is encoded at once', () => {
    const large = fc
      .jsonValue()
      .map(value => ({ first: value, items: Array(300).fill(value), last: [value] }))
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), large), value => assert.equal(written(value), formatJson(value))),
    )
  })

  it('has no undefined members, and large integers', () => {
    const members = Object.fromEntries(many(i => [`m${i}`, i % 2 === 0 ? undefined : 2n ** 63n]))
    assert.equal(written(members), formatJson(members))
    assert.equal(written({ all: Object.fromEntries(many(i => [`m${i}`, undefined])) }), '{"all":{}}')
  })

  it('takes a step for some hundred values, however they nest', () => {
    let nested: unknown = 'x'
    for (let depth = 0; depth < 200; depth++) nested = { all: many(() => 1).slice(0, 100), nested }
    for (const value of [many(() => 1), Object.fromEntries(many(i => [`m${i}`, i])), nested])
      assert.ok(stepsOf(value) >= 78, `${stepsOf(value)} steps`)
  })
})
