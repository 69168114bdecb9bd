import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import { openMemoryStore } from '../store/memory.ts'
import { Compacted } from '../store/store.ts'
import { encodeStored, storageKey } from './codec.ts'
import type { WatchCacheEvent } from './item.ts'
import {
  configMap,
  configMaps,
  events,
  type Fixture,
  forever,
  keyOf,
  listed,
  objectOf,
  openForEach,
} from './testing/fixture.ts'
import { openWatchCache } from './watchcache.ts'

const short = ({ type, item, previous, revision }: WatchCacheEvent): string =>
  `${type} ${item.id}@${revision}${previous === undefined ? '' : ` was @${previous.revision}`}`

const all = { cluster: '*', initialEvents: false, bookmarks: false } as const

describe('the watch cache', () => {
  let fixture: Fixture
  const opening = openForEach()
  const start = async (...args: Parameters<typeof opening>): Promise<Fixture> => {
    fixture = await opening(...args)
    return fixture
  }

  it('reads again when the log is compacted after the objects were read', async () => {
    const store = openMemoryStore()
    await store.commit([
      { key: storageKey(configMaps, keyOf('a/n/x')), value: encodeStored(objectOf('a/n/x', '1')) },
    ])
    let reads = 0
    const watch = store.watch.bind(store)
    store.watch = async function* (...args) {
      if (++reads === 1) throw new Compacted(1)
      yield* watch(...args)
    }
    const { signal } = new AbortController()
    const cache = await openWatchCache(store, { log: silent, signal })
    assert.deepEqual([reads, cache.revision], [2, 1])
    cache.close()
    await store.close()
  })

  it('reports how much it has loaded, and yields to other work', async () => {
    const store = openMemoryStore()
    const ids = Array.from({ length: 2_500 }, (_, i) => `one/default/c${i}`)
    await store.commit(
      ids.map(id => ({ key: storageKey(configMaps, keyOf(id)), value: encodeStored(objectOf(id, 'v')) })),
    )
    await store.compact(store.revision)
    const told: [objects: number, turns: number][] = []
    let turns = 0
    const loading = (objects: number): void => {
      told.push([objects, turns])
      setImmediate(() => turns++)
    }
    const stop = new AbortController()
    const cache = await openWatchCache(store, { log: silent, signal: stop.signal, loading })
    assert.deepEqual(told, [
      [1_000, 0],
      [2_000, 1],
      [2_500, 2],
    ])
    cache.close()
    await store.close()
  })

  it('asks for the log before it has read the objects: etcd sends it slowly', async () => {
    const store = openMemoryStore()
    const { range, watch } = store
    store.range = () => assert.fail('the objects are read first')
    store.watch = (...args) => {
      store.range = range
      return watch.apply(store, args)
    }
    ;(await openWatchCache(store, { log: silent, signal: forever })).close()
    await store.close()
  })

  it('serves a write to its author at once', async () => {
    await start()
    const revision = await fixture.store.commit([
      {
        key: storageKey(configMaps, keyOf('a/n/x')),
        value: encodeStored(objectOf('a/n/x', '1', { l: 'v' })),
      },
    ])
    await fixture.cache.at(revision)
    const item = fixture.maps.get(keyOf('a/n/x'))
    assert.deepEqual(item?.key, { cluster: 'a', namespace: 'n', name: 'x' })
    const { uid, resourceVersion, labels, annotations } = item?.meta ?? {}
    assert.deepEqual(
      { uid, resourceVersion, labels, annotations },
      {
        uid: 'uid-a/n/x',
        resourceVersion: '1',
        labels: { l: 'v' },
        annotations: { 'kcp.io/cluster': 'a' },
      },
    )
    assert.equal(item?.object.metadata.resourceVersion, '1')
    assert.equal(item?.modified, 1)
    assert.equal(fixture.maps.get(keyOf('a/n/y')), undefined)
  })

  it('gives the same cache for the same resource', async () => {
    await start()
    await fixture.write('a/n/x', '1')
    assert.equal(fixture.cache.resource('', 'configmaps', '-'), fixture.maps)
    assert.notEqual(fixture.cache.resource('', 'configmaps', 'hash'), fixture.maps)
    assert.equal(fixture.cache.resource('x.io', 'nothing', '-').count(), 0)
  })

  it('calls subscribers in order while it applies changes, with a replay on request', async () => {
    await start()
    await fixture.write('b/n/x', '1')
    await fixture.write('a/n/x', '1')
    const told: string[] = []
    const stop = fixture.maps.subscribe(
      event => {
        told.push(short(event))
        assert.equal(
          fixture.maps.get(event.item.key)?.revision,
          event.type === 'DELETED' ? undefined : event.revision,
        )
      },
      { replay: true },
    )
    const everything: string[] = []
    fixture.cache.subscribe(({ resource }, event) => everything.push(`${resource.resource} ${short(event)}`))
    await fixture.write('a/n/x', '2')
    await fixture.write('a/n/x', undefined)
    stop()
    await fixture.write('a/n/x', '5')
    assert.deepEqual(told, [
      'ADDED a/n/x@2',
      'ADDED b/n/x@1',
      'MODIFIED a/n/x@3 was @2',
      'DELETED a/n/x@4 was @3',
    ])
    assert.deepEqual(everything, [
      'configmaps MODIFIED a/n/x@3 was @2',
      'configmaps DELETED a/n/x@4 was @3',
      'configmaps ADDED a/n/x@5',
    ])
  })

  it('survives a handler that fails', async () => {
    await start()
    fixture.maps.subscribe(
      () => {
        throw new Error('no')
      },
      { replay: false },
    )
    await fixture.write('a/n/x', '1')
    assert.equal(fixture.maps.count(), 1)
  })

  it('replays the other objects to a handler that fails for one', async () => {
    await start()
    for (const id of ['a/n/x', 'a/n/y', 'a/n/z']) await fixture.write(id, '1')
    const seen: string[] = []
    fixture.maps.subscribe(
      ({ item }) => {
        if (item.name === 'y') throw new Error('a bad object')
        seen.push(item.name)
      },
      { replay: true },
    )
    assert.deepEqual(seen, ['x', 'z'])
  })

  it('lets watches go on across a restart, and pages too', async () => {
    await start()
    for (let i = 1; i <= 6; i++) await fixture.write(`a/n/x${i}`, '1')
    const { meta } = await listed(fixture.maps.list(configMap, forever, { cluster: 'a', limit: 2 }))
    await fixture.write('a/n/x5', undefined)
    await fixture.store.compact(3)
    fixture.cache.close()
    await start({}, fixture.store)
    assert.deepEqual(
      await events(fixture.maps.watch(configMap, forever, { ...all, resourceVersion: '5' }), 2),
      ['ADDED a/n/x6=1@6', 'DELETED a/n/x5=1@7'],
    )
    await assert.rejects(fixture.maps.watch(configMap, forever, { ...all, resourceVersion: '2' }).next(), {
      message: 'too old resource version: 2 (3)',
    })
    const rest = await listed(
      fixture.maps.list(configMap, forever, { cluster: 'a', continue: meta.continue ?? '' }),
    )
    assert.deepEqual(rest.items, ['a/n/x3=1', 'a/n/x4=1', 'a/n/x5=1', 'a/n/x6=1'])
  })

  it('repeats rather than loses when a commit has several objects of one resource', async () => {
    await start()
    await fixture.write('a/n/w', '1')
    const change = (id: string) => ({
      key: storageKey(configMaps, keyOf(id)),
      value: encodeStored(objectOf(id, '2')),
    })
    await fixture.cache.at(await fixture.store.commit([change('a/n/x'), change('a/n/y')]))
    await fixture.write('a/n/z', '3')
    const from = (resourceVersion: string) =>
      fixture.maps.watch(configMap, forever, { ...all, resourceVersion })
    const both = ['ADDED a/n/x=2@2', 'ADDED a/n/y=2@2', 'ADDED a/n/z=3@3']
    assert.deepEqual(await events(from('1'), 3), both)
    assert.deepEqual(await events(from('2'), 3), both)
    assert.deepEqual(await events(from('3'), 0), [])
  })

  it('rejects readers that wait for a revision when the cache closes', async () => {
    await start()
    const waiting = fixture.cache.at(1)
    fixture.cache.close()
    await assert.rejects(waiting, /closed before revision 1 was applied/)
    await assert.rejects(fixture.cache.at(1), /closed/)
  })

  it('opens while writes continue', async () => {
    const store = openMemoryStore()
    const key = (i: number) => storageKey(configMaps, keyOf(`a/n/x${i}`))
    const put = (i: number) =>
      store.commit([{ key: key(i), value: encodeStored(objectOf(`a/n/x${i}`, '1')) }])
    await Promise.all(Array.from({ length: 2_500 }, (_, i) => put(i)))
    await store.compact(2_000)
    const opening = start({}, store)
    await Promise.all(Array.from({ length: 500 }, (_, i) => put(2_400 + i)))
    const { cache, maps } = await opening
    await cache.at(store.revision)
    assert.equal(maps.count(), 2_900)
  })
})
