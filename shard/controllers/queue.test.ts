import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { silent } from '../../framework/contract/log.ts'
import { KeysInTurn } from './keysinturn.ts'
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

  it('has a turn for each logical cluster, whatever the number of its keys', async () => {
    const runs: string[] = []
    const reconcile = async (key: string) => void runs.push(key)
    const queue = createQueue({ name: 't', log: silent, concurrency: 1, reconcile })
    for (let i = 0; i < 100; i++) queue.add(`many|${i}`)
    for (const key of ['few|a', 'few|b', 'one']) queue.add(key)
    void queue.run(stop.signal)
    await queue.idle()
    assert.equal(runs.length, 103)
    assert.deepEqual(runs.slice(0, 5), ['many|0', 'few|a', 'one', 'many|1', 'few|b'])
  })

  it('has workers for each logical cluster, whatever the time that the keys of another take', async () => {
    const started: string[] = []
    let finish = (): void => undefined
    const finished = new Promise<void>(resolve => {
      finish = resolve
    })
    let ended = (): void => undefined
    const last = new Promise<void>(resolve => {
      ended = resolve
    })
    const reconcile = async (key: string): Promise<void> => {
      started.push(key)
      if (key.startsWith('long|')) await finished
      if (key === 'other|19') ended()
    }
    const queue = createQueue({ name: 't', log: silent, concurrency: 8, reconcile })
    void queue.run(stop.signal)
    for (let i = 0; i < 20; i++) queue.add(`long|${i}`)
    await new Promise(resolve => setImmediate(resolve))
    for (let i = 0; i < 20; i++) queue.add(`other|${i}`)
    await last
    assert.equal(started.filter(key => key.startsWith('long|')).length, 4)
    finish()
    await queue.idle()
    assert.equal(started.length, 40)
  })

  it('looks at no waiting logical cluster while all workers are busy, however many wait', () => {
    const keys = new KeysInTurn()
    for (let i = 0; i < 1_000; i++) keys.add(`c${i}|a`)
    const taken = keys.take(1)
    const looks = mock.method(Map.prototype, 'get')
    assert.equal(keys.take(0), undefined)
    assert.equal(keys.hasNext(0), false)
    const count = looks.mock.callCount()
    looks.mock.restore()
    assert.equal(taken, 'c0|a')
    assert.equal(count, 0)
  })

  it('leaves turns to requests between reconciles that take long', async () => {
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    const reconcile = async () => {
      const end = performance.now() + 5
      while (performance.now() < end);
    }
    const queue = createQueue({ name: 't', log: silent, concurrency: 2, reconcile })
    for (let i = 0; i < 20; i++) queue.add(`many|${i}`)
    void queue.run(stop.signal)
    await queue.idle()
    clearInterval(counting)
    assert.ok(turns > 10, String(turns))
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

  it('waits for a delay by a clock that is not set: a retry does not wait until the time of before', async () => {
    const mine = new AbortController()
    const now = Date.now
    const reconcile = async () => mine.abort()
    const queue = createQueue({ name: 't', log: silent, reconcile })
    queue.addAfter('a', 10)
    Date.now = () => now() - 3_600_000
    try {
      await queue.run(mine.signal)
    } finally {
      Date.now = now
    }
    assert.ok(mine.signal.aborted)
  })

  it('waits for delays of years without a busy loop', async () => {
    const mine = new AbortController()
    const warnings: string[] = []
    const note = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', note)
    const queue = createQueue({ name: 't', log: silent, reconcile: async () => undefined })
    queue.addAfter('in 300 years', 1e13)
    const running = queue.run(mine.signal)
    await new Promise(resolve => setImmediate(resolve))
    mine.abort()
    await running
    process.off('warning', note)
    assert.deepEqual(warnings, [])
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
