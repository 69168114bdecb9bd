import assert from 'node:assert/strict'
import { exceedsSteps } from './extent.ts'
import { atOnce } from './json.ts'

const exceeds = (value: unknown, values: number, characters: number): boolean =>
  atOnce(exceedsSteps(value, { values, characters }))

describe('the extent of a JSON value', () => {
  it('counts values at all levels', () => {
    const value = { a: [1, 2, { b: null }], c: true }
    assert.ok(!exceeds(value, 7, 100))
    assert.ok(exceeds(value, 6, 100))
    assert.ok(!exceeds(1, 1, 0))
    assert.ok(exceeds(1, 0, 0))
  })

  it('counts the characters of strings and of names', () => {
    assert.ok(!exceeds({ name: ['text', { k: '' }] }, 100, 9))
    assert.ok(exceeds({ name: ['text', { k: '' }] }, 100, 8))
    assert.ok(exceeds('text', 100, 3))
    assert.ok(exceeds({ name: {} }, 100, 3))
  })

  it('looks at many values in many steps', () => {
    let steps = 0
    for (const _ of exceedsSteps({ items: Array(100_000).fill(0) }, { values: 1_000_000, characters: 10 }))
      steps++
    assert.ok(steps >= 20, `${steps} steps`)
  })
})
