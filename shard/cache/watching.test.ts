import assert from 'node:assert/strict'
import type { WatchQuery } from '../../framework/contract/storage.ts'
import { parseFieldSelector, parseLabelSelector } from '../../framework/selectors/parse.ts'
import { encodeStored, storageKey } from './codec.ts'
import {
  configMap,
  configMaps,
  events,
  type Fixture,
  forever,
  keyOf,
  objectOf,
  open,
} from './testing/fixture.ts'

describe('watching', () => {
  let fixture: Fixture
  beforeEach(async () => {
    fixture = await open({ waitTimeout: 20 })
  })
  afterEach(() => fixture.close())

  const watch = (query: Partial<WatchQuery> = {}, signal = forever) =>
    fixture.maps.watch(configMap, signal, { cluster: '*', initialEvents: false, bookmarks: false, ...query })
  const refused = (query: Partial<WatchQuery>) => watch(query).next()

  it('sends every change once, in order', async () => {
    const watched = watch()
    const found = events(watched, 3)
    await fixture.write('a/n/x', '1')
    await fixture.write('a/n/x', '2')
    await fixture.write('a/n/x', undefined)
    assert.deepEqual(await found, ['ADDED a/n/x=1@1', 'MODIFIED a/n/x=2@2', 'DELETED a/n/x=2@3'])
  })

  it('sends all events before its timeout, and ends', async () => {
    const ending = new AbortController()
    const watched = watch({}, ending.signal)
    const first = events(watched, 1)
    await fixture.write('a/n/x', '1')
    await first
    await fixture.write('a/n/x', undefined)
    ending.abort()
    assert.deepEqual(await events(watched, 1), ['DELETED a/n/x=1@2'])
    assert.equal((await watched.next()).done, true)
  })

  it('continues after a resourceVersion', async () => {
    await fixture.write('a/n/x', '1')
    await fixture.write('a/n/x', '2')
    assert.deepEqual(await events(watch({ resourceVersion: '1' }), 1), ['MODIFIED a/n/x=2@2'])
  })

  it('from a version that the store never had is expired', async () => {
    await fixture.write('a/n/x', '1')
    await assert.rejects(refused({ resourceVersion: '2' }), {
      code: 410,
      reason: 'Expired',
      message: 'too new resource version: 2 (1)',
    })
  })

  it('from the version of a commit waits until the cache has it', async () => {
    const object = {
      key: storageKey(configMaps, keyOf('a/n/x')),
      value: encodeStored(objectOf('a/n/x', '1')),
    }
    const [first, second] = [fixture.store.commit([object]), fixture.store.commit([object])]
    assert.equal(await first, 1)
    const watched = events(watch({ resourceVersion: '1' }), 1)
    await second
    assert.deepEqual(await watched, ['MODIFIED a/n/x=1@2'])
  })

  it('begins with the state when that is asked for, and marks its end', async () => {
    await fixture.write('a/n/x', '1')
    await fixture.write('b/n/x', '2')
    const watched = watch({ initialEvents: true, bookmarks: true, resourceVersion: '1' })
    assert.deepEqual(await events(watched, 3), ['ADDED a/n/x=1@1', 'ADDED b/n/x=2@2', 'BOOKMARK @2!'])
    await fixture.write('a/n/x', '3')
    assert.deepEqual(await events(watched, 1), ['MODIFIED a/n/x=3@3'])
    const without = watch({ initialEvents: true, cluster: 'b' })
    assert.deepEqual(await events(without, 1), ['ADDED b/n/x=2@2'])
    await fixture.write('b/n/x', '4')
    assert.deepEqual(await events(without, 1), ['MODIFIED b/n/x=4@4'])
  })

  it('misses nothing that is written while the initial events are read', async () => {
    const ids = Array.from({ length: 400 }, (_, i) => `a/n/x${i}`)
    await Promise.all(ids.map(id => fixture.write(id, '1')))
    const watched = watch({ initialEvents: true, bookmarks: true, cluster: 'a' })
    const first = await watched.next()
    assert.ok((first.value?.length ?? 0) < ids.length)
    await fixture.write('a/n/x1', 'later')
    const rest = await events(watched, ids.length - (first.value?.length ?? 0) + 2)
    assert.deepEqual(rest.slice(-2), ['BOOKMARK @400!', 'MODIFIED a/n/x1=later@401'])
  })

  it('sends only events of its cluster or namespace', async () => {
    const [a, n, star] = [
      watch({ cluster: 'a' }),
      watch({ cluster: 'a', namespace: 'n' }),
      watch({ namespace: 'n' }),
    ]
    const found = [events(a, 2), events(n, 1), events(star, 2)]
    for (const id of ['b/n/x', 'a/m/x', 'a/n/x']) await fixture.write(id, '1')
    assert.deepEqual(await Promise.all(found), [
      ['ADDED a/m/x=1@2', 'ADDED a/n/x=1@3'],
      ['ADDED a/n/x=1@3'],
      ['ADDED b/n/x=1@1', 'ADDED a/n/x=1@3'],
    ])
    for (const watched of [a, n, star]) await watched.return()
  })

  it('of a selector sends ADDED and DELETED when objects start and stop to match', async () => {
    const watched = watch({ labels: parseLabelSelector('on') })
    await fixture.write('a/n/x', '1')
    const found = events(watched, 5)
    await fixture.write('a/n/x', '2', { on: '' })
    await fixture.write('a/n/x', '3', { on: '' })
    await fixture.write('a/n/x', '4')
    await fixture.write('a/n/x', '5', { on: '' })
    await fixture.write('a/n/x', undefined)
    await fixture.write('a/n/x', '7')
    assert.deepEqual(await found, [
      'ADDED a/n/x=2@2',
      'MODIFIED a/n/x=3@3',
      'DELETED a/n/x=3@4',
      'ADDED a/n/x=5@5',
      'DELETED a/n/x=5@6',
    ])
  })

  it('of one name sends events of that object only', async () => {
    const watched = watch({ cluster: 'a', fields: parseFieldSelector('metadata.name=x') })
    const found = events(watched, 2)
    await fixture.write('a/n/y', '1')
    await fixture.write('a/n/x', '2')
    await fixture.write('a/n/x', undefined)
    assert.deepEqual(await found, ['ADDED a/n/x=2@2', 'DELETED a/n/x=2@3'])
  })

  it('hands the same arrays to watchers that see the same', async () => {
    const queries: Partial<WatchQuery>[] = [{}, { cluster: 'a' }, { labels: parseLabelSelector('!x') }]
    for (const query of queries) {
      const [one, two] = [watch(query), watch(query)]
      const next = [one.next(), two.next()]
      await fixture.write('a/n/x', '1')
      const [first, second] = await Promise.all(next)
      assert.ok(first?.value !== undefined && first.value === second?.value)
      await one.return()
      await two.return()
    }
  })

  it('too far back is expired', async () => {
    await fixture.close()
    fixture = await open({ ring: { events: 2 } })
    const slow = watch()
    const first = slow.next()
    await fixture.write('a/n/x', '1')
    await first
    for (let i = 2; i <= 5; i++) await fixture.write('a/n/x', `${i}`)
    const status = { code: 410, reason: 'Expired' }
    await assert.rejects(refused({ resourceVersion: '2' }), {
      ...status,
      message: 'too old resource version: 2 (3)',
    })
    assert.deepEqual(await events(watch({ resourceVersion: '3' }), 2), [
      'MODIFIED a/n/x=4@4',
      'MODIFIED a/n/x=5@5',
    ])
    await assert.rejects(slow.next(), { ...status, message: 'too old resource version: 1 (3)' })
  })

  it('of one cluster expires like any other', async () => {
    await fixture.close()
    fixture = await open({ ring: { events: 2 } })
    const slow = watch({ cluster: 'a' })
    const first = slow.next()
    await fixture.write('a/n/x', '1')
    await first
    await fixture.write('a/n/x', '2')
    await fixture.write('b/n/x', '3')
    await fixture.write('b/n/x', '4')
    await assert.rejects(slow.next(), { code: 410 })
  })

  it('of the far future with initial events is refused, of no number too', async () => {
    await assert.rejects(refused({ resourceVersion: '9', initialEvents: true }), {
      code: 504,
      message: 'Timeout: Too large resource version: 9, current: 0',
    })
    await assert.rejects(refused({ resourceVersion: 'x' }), { code: 400 })
  })

  it('sends a bookmark now and then, and one before the deadline', async () => {
    await fixture.close()
    fixture = await open({ bookmarkEvery: 1 })
    await fixture.write('a/n/x', '1')
    const often = watch({ bookmarks: true, cluster: 'b' })
    assert.deepEqual(await events(often, 1), ['BOOKMARK @1'])
    await fixture.write('a/n/x', '2')
    assert.deepEqual(await events(often, 1), ['BOOKMARK @2'])
    await often.return()
    await fixture.close()
    fixture = await open()
    const last = watch({ bookmarks: true, deadline: Date.now() + 2_010 })
    assert.deepEqual(await events(last, 1), ['BOOKMARK @0'])
    await last.return()
  })

  it('sends bookmarks when the clock of the machine was set back', async () => {
    await fixture.close()
    fixture = await open({ bookmarkEvery: 50 })
    const events = watch({ bookmarks: true })
    await events.next()
    const now = Date.now
    Date.now = () => now() - 3_600_000
    try {
      assert.equal((await events.next()).value?.[0]?.type, 'BOOKMARK')
    } finally {
      Date.now = now
    }
    await events.return()
  })

  it('ends with its signal and with the cache, and leaves nothing behind', async () => {
    const stop = new AbortController()
    const [aborted, closed] = [watch({ cluster: 'a', bookmarks: true }, stop.signal), watch({ cluster: 'a' })]
    const ends = [aborted.next(), closed.next()]
    stop.abort()
    assert.equal((await ends[0])?.done, true)
    fixture.cache.close()
    assert.equal((await ends[1])?.done, true)
    assert.equal(fixture.maps.ring.watchedClusters, 0)
  })
})
