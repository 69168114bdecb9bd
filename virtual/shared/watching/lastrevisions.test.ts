import assert from 'node:assert/strict'
import { LastRevisions } from './lastrevisions.ts'

const minute = 60_000

describe('the revisions of the last changes', () => {
  it('are those of single logical clusters', () => {
    const last = new LastRevisions()
    last.record('a', 10, 0)
    last.record('b', 20, 0)
    last.record('a', 5, 0)
    assert.deepEqual(
      ['a', 'b', 'c'].map(name => last.of(name)),
      [10, 20, 0],
    )
  })

  it('are one for all when they are old', () => {
    const last = new LastRevisions()
    last.record('a', 10, 0)
    last.record('b', 20, 10 * minute)
    last.record('c', 30, 16 * minute)
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map(name => last.of(name)),
      [10, 20, 30, 10],
    )
    last.record('d', 40, 26 * minute)
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map(name => last.of(name)),
      [20, 20, 30, 40],
    )
  })

  it('of before the start are known for all', () => {
    const last = new LastRevisions()
    last.raise(10)
    assert.equal(last.of('a'), 10)
    last.record('a', 20)
    assert.deepEqual([last.of('a'), last.of('b')], [20, 10])
  })
})
