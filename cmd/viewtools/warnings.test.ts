import assert from 'node:assert/strict'
import { warningsIn } from './warnings.ts'

describe('warningsIn', () => {
  it('returns the texts of one header and of several', () => {
    assert.deepEqual(warningsIn(), [])
    assert.deepEqual(warningsIn(String.raw`299 - "a \"b\", c", 299 - "d"`), ['a "b", c', 'd'])
    assert.deepEqual(warningsIn(['299 - "a"', '299 - "b"']), ['a', 'b'])
  })
})
