import assert from 'node:assert/strict'
import { Pace, Readers, turn } from './awaitable.ts'

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
