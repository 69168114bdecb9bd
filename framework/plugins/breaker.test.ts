import assert from 'node:assert/strict'
import { Breakers } from './breaker.ts'

describe('circuit breakers', () => {
  let time: number
  let breakers: Breakers
  const fail = (key: string, times: number) =>
    Array.from({ length: times }, () => breakers.failed(key)).at(-1)
  beforeEach(() => {
    time = 0
    breakers = new Breakers({ failures: 3, firstPause: 1000, longestPause: 3000 }, () => time)
  })

  it('open after failures in a row, without a success', () => {
    assert.equal(fail('a', 2), undefined)
    assert.equal(breakers.refuses('a'), undefined)
    assert.equal(breakers.succeeded('a'), false)
    assert.equal(fail('a', 2), undefined)
    assert.equal(fail('a', 1), 1000)
    assert.equal(breakers.refuses('a'), 1000)
    assert.deepEqual(breakers.open(), ['a'])
  })

  it('let one request through after each pause, which doubles up to a limit', () => {
    fail('a', 3)
    for (const pause of [2000, 3000, 3000]) {
      time += breakers.refuses('a') ?? 0
      assert.equal(breakers.refuses('a'), undefined)
      assert.ok(Number(breakers.refuses('a')) > 0, 'the others wait')
      assert.equal(fail('a', 1), pause)
    }
  })

  it('close after the success of that request', () => {
    fail('a', 3)
    time = 1000
    assert.equal(breakers.refuses('a'), undefined)
    assert.equal(breakers.succeeded('a'), true)
    assert.equal(breakers.refuses('a'), undefined)
    assert.deepEqual(breakers.open(), [])
    assert.equal(fail('a', 2), undefined)
  })

  it('let the next request through when the last one never ended', () => {
    fail('a', 3)
    time = 1000
    assert.equal(breakers.refuses('a'), undefined)
    time = 2000
    assert.equal(breakers.refuses('a'), undefined)
  })

  it('are one for each key', () => {
    fail('a', 3)
    assert.equal(breakers.refuses('b'), undefined)
    breakers.succeeded('b')
    assert.equal(breakers.refuses('a'), 1000)
  })
})
