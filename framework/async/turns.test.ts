import assert from 'node:assert/strict'
import { Pace, Readers } from './awaitable.ts'
import { laterTurn, turn } from './turn.ts'

describe('turns', () => {
  it('are taken after a few milliseconds of work', async () => {
    const pace = new Pace()
    let others = 0
    const count = (): void => {
      others++
      if (others < 10) setImmediate(count)
    }
    setImmediate(count)
    for (let round = 0; round < 3; round++) {
      const end = performance.now() + 6
      while (performance.now() < end);
      await pace.due()
    }
    assert.ok(others >= 3, `${others} turns`)
  })

  it('are not taken by short work', () => {
    assert.equal(new Pace().due(), undefined)
  })

  it('let a limited number of readers work at a time, in their order', async () => {
    const readers = new Readers({ atOnce: 2, slice: 0 })
    const worked: string[] = []
    const reader = async (name: string): Promise<void> => {
      await readers.enter()
      worked.push(name)
    }
    const all = ['a', 'b', 'c', 'd', 'e'].map(reader)
    const seen: number[] = []
    for (let i = 0; i < 4; i++) {
      await Promise.resolve()
      await new Promise(resolve => process.nextTick(resolve))
      seen.push(worked.length)
      await turn()
    }
    await Promise.all(all)
    assert.deepEqual(worked, ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(seen, [2, 4, 5, 5])
    assert.equal(readers.enter(), undefined)
  })

  it('let readers go on in the same turn while time is left, after those before have worked', async () => {
    const readers = new Readers({ atOnce: 2, slice: Number.POSITIVE_INFINITY })
    const worked: string[] = []
    const reader = async (name: string): Promise<void> => {
      await readers.enter()
      worked.push(`${name} starts`)
      await Promise.resolve()
      worked.push(`${name} ends`)
    }
    const all = ['a', 'b', 'c', 'd'].map(reader)
    const inTurn: number[] = []
    const count = (): void => {
      inTurn.push(worked.length)
      if (worked.length < 8) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(all)
    assert.deepEqual(worked.slice(0, 4), ['a starts', 'b starts', 'a ends', 'b ends'])
    assert.deepEqual(worked.slice(4), ['c starts', 'd starts', 'c ends', 'd ends'])
    assert.ok(inTurn.length <= 1, `${inTurn.length} turns`)
  })
})

describe('long work of many requests', () => {
  /** Works for so many slices, with turns between them. */
  async function work(slices: number, done: () => void): Promise<void> {
    const pace = new Pace()
    for (let i = 0; i < slices; i++) {
      const end = performance.now() + 6
      while (performance.now() < end);
      await pace.due()
    }
    done()
  }

  it('has one slice in a turn of the event loop', async () => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(Array.from({ length: 10 }, () => work(4, () => undefined)))
    isOver = true
    assert.ok(turns >= 30, `${turns} turns for 40 slices`)
  })

  it('does not delay short work by more than one slice for each of its own', async () => {
    const ended: string[] = []
    const long = Array.from({ length: 10 }, () => work(12, () => ended.push('long')))
    for (let i = 0; i < 6; i++) await laterTurn()
    await Promise.all([...long, work(3, () => ended.push('short'))])
    assert.equal(ended[0], 'short')
  })
})
