import assert from 'node:assert/strict'
import { humanDuration, since } from './humanduration.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const y = 365 * d

describe('humanDuration', () => {
  const cases: readonly (readonly [number, string])[] = [
    [-2 * s, '<invalid>'],
    [-1 * s, '0s'],
    [0, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [2 * m + 1 * s, '2m1s'],
    [10 * m + 59 * s, '10m'],
    [3 * h, '3h'],
    [3 * h + 5 * m, '3h5m'],
    [8 * h + 59 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [2 * d + 3 * h, '2d3h'],
    [8 * d, '8d'],
    [2 * y - d, '729d'],
    [2 * y + 3 * d, '2y3d'],
    [8 * y + 364 * d, '8y'],
  ]
  for (const [span, text] of cases) {
    it(`shows ${span} ms as ${text}`, () => assert.equal(humanDuration(span), text))
  }
})

describe('since', () => {
  const now = new Date('2026-01-02T00:00:00Z')
  it('is the age of a time', () => assert.equal(since('2026-01-01T23:59:00Z', now), '60s'))
  it('prints <unknown> without a time', () => assert.equal(since(undefined, now), '<unknown>'))
  it('prints <invalid> for other text', () => assert.equal(since('yesterday', now), '<invalid>'))
})
