import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Histories } from '../../framework/cache/histories.ts'
import { CacheEvent, Ring, type RingBounds } from '../../framework/cache/ring.ts'
import { encodeObject } from '../../framework/wire/encode.ts'
import { CachedItem } from './item.ts'
import { keyOf, objectOf } from './testing/fixture.ts'

function event(id: string, revision: number, value = ''): CacheEvent {
  const state = { revision, modified: revision, labels: {} }
  return new CacheEvent('MODIFIED', new CachedItem(keyOf(id), encodeObject(objectOf(id, value)), state))
}

const ringOf = (bounds: Partial<RingBounds>, histories = new Histories()): Ring =>
  new Ring(10, { events: 100, bytes: 1_000_000, minutes: 5, ...bounds }, histories)

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

  it('is bounded by the bytes of all rings: those with the most bytes lose events', () => {
    const histories = new Histories(100_000)
    const [small, large, larger] = [ringOf({}, histories), ringOf({}, histories), ringOf({}, histories)]
    for (const revision of [11, 12]) small.push(event('a/n/x', revision))
    for (let revision = 13; revision <= 30; revision++)
      for (const ring of revision < 20 ? [large, larger] : [larger])
        ring.push(event('a/n/x', revision, '.'.repeat(10_000)))
    assert.deepEqual(revisions(small), [12, 11])
    assert.deepEqual(
      [revisions(large), revisions(larger)],
      [
        [19, 18, 17, 16],
        [30, 29, 28, 27, 26],
      ],
    )
    assert.equal(histories.bytes, small.bytes + large.bytes + larger.bytes)
    larger.end()
    assert.equal(histories.bytes, small.bytes + large.bytes)
  })

  it('looks at all rings once for an event that takes the place of thousands', () => {
    const histories = new Histories(8_000_000)
    let looks = 0
    histories.add({
      get bytes() {
        looks++
        return 0
      },
      shrink: () => assert.fail('it has no events'),
    })
    const bounds = { events: 100_000, bytes: 8_000_000 }
    const [small, large] = [ringOf(bounds, histories), ringOf(bounds, histories)]
    let revision = 11
    while (histories.bytes < 7_990_000) small.push(event('a/n/x', revision++))
    large.push(event('a/n/y', revision, '.'.repeat(3_500_000)))
    assert.ok(histories.bytes <= histories.most)
    assert.equal(large.bytes > 3_500_000, true)
    // For the heights, and to compare with the level.
    assert.equal(looks, 2)
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

  it('does not hold the events that it has dropped, nor arrays of them that readers shared', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const ring = ringOf({})
    const pushed = Array.from({ length: 5 }, (_, i) => {
      const made = event('a/n/x', 11 + i)
      ring.push(made)
      return new WeakRef(made)
    })
    ring.line.read(0, 5, { name: 'all' })
    ring.drop()
    ring.drop()
    await turn()
    collectGarbage()
    const held = pushed.map(each => each.deref()?.revision)
    assert.deepEqual(held, [undefined, undefined, 13, 14, 15])
  })

  it('forgets arrays that readers shared when clients choose too many views', () => {
    const ring = ringOf({})
    ring.push(event('a/n/x', 11))
    const view = (name: string) => ring.line.read(0, 1, { name })
    const first = view('first')
    assert.equal(view('first'), first)
    for (let i = 0; i < 2_000; i++) view(String(i))
    assert.notEqual(view('first'), first)
  })
})
