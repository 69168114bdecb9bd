import assert from 'node:assert/strict'
import { CacheEvent, Ring, type RingBounds } from '../../framework/cache/ring.ts'
import { encodeObject } from '../../framework/wire/encode.ts'
import { CachedItem } from './item.ts'
import { keyOf, objectOf } from './testing/fixture.ts'

function event(id: string, revision: number, value = ''): CacheEvent {
  const state = { revision, modified: revision, labels: {} }
  return new CacheEvent('MODIFIED', new CachedItem(keyOf(id), encodeObject(objectOf(id, value)), state))
}

const ringOf = (bounds: Partial<RingBounds>): Ring =>
  new Ring(10, { events: 100, bytes: 1_000_000, minutes: 5, ...bounds })

const revisions = (ring: Ring): number[] => [...ring.backTo(0)].map(({ revision }) => revision)

describe('the ring', () => {
  it('is bounded by events', () => {
    const ring = ringOf({ events: 3 })
    for (let revision = 11; revision <= 20; revision++) ring.push(event('a/n/x', revision))
    assert.deepEqual(revisions(ring), [20, 19, 18])
    assert.equal(ring.floor, 17)
  })

  it('is bounded by bytes', () => {
    const ring = ringOf({ bytes: 50_000 })
    for (let revision = 11; revision <= 30; revision++)
      ring.push(event('a/n/x', revision, '.'.repeat(10_000)))
    assert.deepEqual(revisions(ring), [30, 29, 28, 27])
  })

  it('is bounded by minutes', () => {
    const ring = ringOf({ minutes: 2 })
    for (let revision = 11; revision <= 14; revision++) {
      ring.push(event('a/n/x', revision))
      ring.age()
    }
    assert.deepEqual(revisions(ring), [14, 13])
    for (let minute = 0; minute < 2; minute++) ring.age()
    assert.deepEqual([revisions(ring), ring.floor], [[], 14])
  })

  it('finds the position of a revision, and refuses too old ones', () => {
    const ring = ringOf({ events: 4 })
    for (const revision of [11, 12, 12, 13, 15, 15]) ring.push(event('a/n/x', revision))
    assert.deepEqual(revisions(ring), [15, 15, 13, 12])
    assert.deepEqual(
      [11, 12, 13].map(revision => ring.reaches(revision)),
      [false, false, true],
    )
    const from = (revision: number) => ring.line.at(ring.positionAfter(revision))?.revision
    assert.deepEqual([13, 14, 15].map(from), [15, 15, 15])
    assert.equal(ring.positionAfter(16), ring.line.end)
    assert.equal(ring.positionAfter(15), ring.line.end - 2)
  })

  it('keeps lines of single clusters while they are watched, with the same window', () => {
    const ring = ringOf({ events: 2 })
    const line = ring.join('a')
    assert.equal(ring.join('a'), line)
    for (const [id, revision] of [
      ['a/n/x', 11],
      ['b/n/x', 12],
      ['a/n/x', 13],
      ['b/n/x', 14],
    ] as const)
      ring.push(event(id, revision))
    assert.deepEqual([line.start, line.end, line.at(line.start)?.revision], [1, 2, 13])
    ring.leave('a')
    ring.leave('a')
    assert.equal(ring.watchedClusters, 0)
  })
})
