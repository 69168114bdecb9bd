import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import { createDelays, createQueue } from './queue.ts'

describe('work queue', () => {
  const stop = new AbortController()
  after(() => stop.abort())

  it('merges equal keys, and runs a key once more when it is added while it runs', async () => {
    const runs: string[] = []
    let queue = createQueue({ name: 't', log: silent, reconcile: async () => undefined })
    queue = createQueue({
      name: 't',
      log: silent,
      reconcile: async key => {
        runs.push(key)
        if (key === 'a' && runs.length === 1) queue.add('a')
      },
    })
    for (const key of ['a', 'b', 'a', 'b']) queue.add(key)
    void queue.run(stop.signal)
    await queue.idle()
    assert.deepEqual(runs.sort(), ['a', 'a', 'b'])
  })

  it('retries failed keys until they succeed', async () => {
    let attempts = 0
    const queue = createQueue({
      name: 't',
      log: silent,
      reconcile: async () => {
        attempts += 1
        if (attempts < 4) throw new Error('not yet')
      },
    })
    queue.add('a')
    void queue.run(stop.signal)
    await queue.idle()
    assert.equal(attempts, 4)
  })

  it('does not exceed its concurrency, nor run one key twice at a time', async () => {
    const running = new Set<string>()
    let most = 0
    const queue = createQueue({
      name: 't',
      log: silent,
      concurrency: 3,
      reconcile: async key => {
        assert.ok(!running.has(key))
        running.add(key)
        most = Math.max(most, running.size)
        await new Promise(resolve => setImmediate(resolve))
        running.delete(key)
      },
    })
    void queue.run(stop.signal)
    for (let i = 0; i < 50; i++) queue.add(String(i % 20))
    await queue.idle()
    assert.equal(most, 3)
  })

  it('stops cleanly: run resolves when running keys have ended', async () => {
    const mine = new AbortController()
    let finished = false
    const queue = createQueue({
      name: 't',
      log: silent,
      reconcile: async () => {
        mine.abort()
        await new Promise(resolve => setImmediate(resolve))
        finished = true
      },
    })
    queue.add('a')
    queue.addAfter('b', 3_600_000)
    await queue.run(mine.signal)
    assert.ok(finished)
  })
})

describe('delays', () => {
  it('returns delayed keys in order of time, with the earliest time per key', () => {
    const delays = createDelays()
    const dueTimes: [string, number][] = [
      ['a', 50],
      ['b', 20],
      ['c', 40],
      ['a', 10],
      ['b', 90],
      ['d', 30],
    ]
    for (const [key, at] of dueTimes) delays.set(key, at)
    assert.equal(delays.next, 10)
    assert.deepEqual(delays.take(30), ['a', 'b', 'd'])
    assert.equal(delays.next, 40)
    assert.deepEqual(delays.take(1000), ['c'])
    assert.equal(delays.next, undefined)
  })
})
