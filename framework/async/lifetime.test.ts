import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createLifetime } from './lifetime.ts'

describe('the requests of many clients that leave together', () => {
  const work = (): void => {
    for (const since = performance.now(); performance.now() - since < 1; );
  }

  it('have ended at once, and are told so in turns of other requests', async () => {
    let told = 0
    const lifetimes = Array.from({ length: 50 }, () => createLifetime())
    for (const lifetime of lifetimes)
      lifetime.onEnd(answer => {
        assert.equal(answer.code, 499)
        told++
        work()
      })
    for (const lifetime of lifetimes) lifetime.end('client gone')
    assert.ok(lifetimes.every(({ ended }) => ended === 'client gone'))
    let turns = 0
    for (; told < lifetimes.length; turns++) await nextTurn()
    assert.ok(turns > 10, `${turns} turns`)
  })

  it('are not told when their response was complete before', async () => {
    const lifetime = createLifetime()
    lifetime.onEnd(() => assert.fail('told'))
    lifetime.end('client gone')
    lifetime.dispose()
    for (let i = 0; i < 5; i++) await nextTurn()
    assert.equal(lifetime.isOver, true)
  })
})
