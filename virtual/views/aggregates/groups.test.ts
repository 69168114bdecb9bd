import assert from 'node:assert/strict'
import { type Contribution, type GroupChange, Groups } from './groups.ts'

const member = (color: string, size: number): Contribution => ({
  by: { color },
  values: { sum: { size }, min: { size }, max: { size, half: size / 2 } },
})

/** The changes of groups, and the number of steps in which they were computed. */
function changesOf(groups: Groups): { changes: readonly GroupChange[]; steps: number } {
  const work = groups.changes()
  for (let steps = 1; ; steps++) {
    const next = work.next()
    if (next.done) return { changes: next.value, steps }
  }
}

describe('the groups of an aggregate', () => {
  it('are computed in steps, from all of their members', () => {
    const groups = new Groups('sizes')
    for (let i = 1; i <= 5_000; i++) groups.put(`red ${i}`, member('red', i))
    groups.put('blue', member('blue', -3))
    const { changes, steps } = changesOf(groups)
    assert.ok(steps >= 10, String(steps))
    const { metadata: _, ...red } = changes.find(({ object }) => object?.count === 5_000)?.object ?? {}
    assert.deepEqual(red, {
      aggregate: 'sizes',
      group: { color: 'red' },
      count: 5_000,
      sum: { size: 12_502_500 },
      min: { size: 1 },
      max: { size: 5_000, half: 2_500 },
    })
    assert.equal(changes.length, 2)
    assert.deepEqual(changesOf(groups).changes, [])
  })

  it('are empty without members, and have no values where none are computed', () => {
    const groups = new Groups('all')
    groups.put('a', { by: {}, values: { sum: {}, min: {}, max: {} } })
    assert.deepEqual(changesOf(groups).changes, [
      { name: 'all', object: { metadata: { name: 'all' }, aggregate: 'all', group: {}, count: 1 } },
    ])
    groups.put('a', undefined)
    assert.deepEqual(changesOf(groups).changes, [{ name: 'all' }])
  })
})
