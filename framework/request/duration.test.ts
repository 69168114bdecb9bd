import assert from 'node:assert/strict'
import { parseDuration } from './duration.ts'

describe('durations', () => {
  it('are read as Go reads them', () => {
    for (const [text, milliseconds] of [
      ['0', 0],
      ['1m30s', 90_000],
      ['1.5s', 1500],
      ['.5h', 1_800_000],
      ['250ms', 250],
      ['1µs', 0.001],
      ['-2s', -2000],
    ] as const) {
      assert.equal(parseDuration(text), milliseconds, text)
    }
  })

  it("are refused in Go's words", () => {
    assert.throws(() => parseDuration('10'), /^Error: time: missing unit in duration "10"$/)
    for (const text of ['', 's', '1x', '1s2', 'Infinity', '1 s']) {
      assert.throws(() => parseDuration(text), /^Error: time: invalid duration/, text)
    }
  })
})
