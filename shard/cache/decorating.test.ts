import assert from 'node:assert/strict'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { isCurrent, nextEpoch } from '../store/epoch.ts'
import { encodeStored, storageKey } from './codec.ts'
import type { WatchCache, WatchCacheOptions } from './contract.ts'
import type { Decorator } from './item.ts'
import {
  configMap,
  configMaps,
  events,
  type Fixture,
  forever,
  keyOf,
  listed,
  objectOf,
  open,
  openForEach,
} from './testing/fixture.ts'

const all = { cluster: '*', initialEvents: false, bookmarks: false } as const

describe('labels that the watch cache adds to objects appear', () => {
  let fixture: Fixture
  const opening = openForEach()
  const start = async (...args: Parameters<typeof opening>): Promise<Fixture> => {
    fixture = await opening(...args)
    return fixture
  }

  const prefix = 'claimed/'
  /** Clusters with an `accept` object, as a claims index would keep them. */
  const decorate = (cache: WatchCache): Decorator => {
    const accepted = new Set<string>()
    const settings = cache.resource('', 'settings', '-')
    settings.subscribe(
      ({ type, item, revision }) => {
        if (type === 'DELETED') accepted.delete(item.cluster)
        else accepted.add(item.cluster)
        cache.redecorate(configMaps, item.cluster, revision)
      },
      { replay: true },
    )
    return {
      prefix,
      labels: ({ resource }, cluster) =>
        resource === 'configmaps' && accepted.has(cluster) ? { 'claimed/by': 'me' } : undefined,
    }
  }
  const settings = { group: '', resource: 'settings', segment: '-' }
  const labels = parseLabelSelector('claimed/by=me')
  async function write(id: string, value: Buffer | undefined): Promise<number> {
    const revision = await fixture.store.commit([{ key: storageKey(settings, keyOf(id)), value }])
    await fixture.cache.at(revision)
    return revision
  }
  const accept = (cluster: string): Promise<number> =>
    write(`${cluster}//accept`, encodeStored(objectOf(`${cluster}//accept`, '')))
  const withdraw = (cluster: string): Promise<number> => write(`${cluster}//accept`, undefined)
  const claimed = () => listed(fixture.maps.list(configMap, forever, { cluster: '*', labels }))

  it('at once when the label is added or removed, also in running watches', async () => {
    await start({ decorate })
    const told = events(fixture.maps.watch(configMap, forever, { ...all, labels }), 4)
    await fixture.write('a/n/x', '1', { own: 'l', 'claimed/by': 'a liar' })
    await fixture.write('b/n/x', '1')
    assert.deepEqual((await claimed()).items, [])
    await accept('a')
    assert.deepEqual((await claimed()).items, ['a/n/x=1'])
    await fixture.write('a/n/y', '4')
    await withdraw('a')
    assert.deepEqual((await claimed()).items, [])
    assert.deepEqual(await told, [
      'ADDED a/n/x=1@3',
      'ADDED a/n/y=4@4',
      'DELETED a/n/x=1@5',
      'DELETED a/n/y=4@5',
    ])
    const item = fixture.maps.get(keyOf('a/n/x'))
    assert.deepEqual(item?.object.metadata.labels, { own: 'l' })
    assert.deepEqual([item?.modified, item?.revision], [1, 5])
  })

  it('without making a version stale that any server has presented', async () => {
    await start({ decorate })
    await fixture.write('a/n/x', '1')
    await accept('a')
    await fixture.store.compact(2)
    const itemOf = ({ maps }: Fixture) => {
      const item = maps.get(keyOf('a/n/x'))
      assert.ok(item !== undefined)
      return item
    }
    const later = await open({ decorate }, fixture.store)
    assert.deepEqual([itemOf(fixture).revision, itemOf(later).revision], [2, 1])
    for (const { cache, item } of [fixture, later].map(each => ({ ...each, item: itemOf(each) })))
      assert.deepEqual(
        ['0', '1', '2', '3'].map(version => isCurrent(item, version, cache.revision)),
        [false, true, true, false],
      )
    later.cache.close()
  })

  it('without making a version current that a restore took back', async () => {
    await start({ decorate })
    await fixture.write('a/n/x', '1')
    const item = fixture.maps.get(keyOf('a/n/x'))
    assert.ok(item !== undefined)
    const restored = nextEpoch(1)
    assert.deepEqual(
      [1, 2, 100_000, restored + 1, restored + 2].map(version =>
        isCurrent(item, String(version), restored + 1),
      ),
      [true, false, false, true, false],
    )
  })

  it('after a restart too, in lists and in watches that go on', async () => {
    await start({ decorate })
    await fixture.write('a/n/x', '1')
    await fixture.write('b/n/x', '1')
    await accept('a')
    await fixture.write('a/n/y', '4')
    await accept('b')
    for (const forgotten of [0, 3, 5]) {
      await fixture.store.compact(forgotten)
      fixture.cache.close()
      await start({ decorate }, fixture.store)
      assert.deepEqual((await claimed()).items, ['a/n/x=1', 'a/n/y=4', 'b/n/x=1'])
      if (forgotten > 3) continue
      const watch = fixture.maps.watch(configMap, forever, { ...all, labels, resourceVersion: '3' })
      assert.deepEqual((await events(watch, 2)).slice(-2), ['ADDED a/n/y=4@4', 'ADDED b/n/x=1@5'])
    }
  })

  describe('while they are added to many objects', () => {
    const ids = Array.from({ length: 3_000 }, (_, i) => `a/n/x${i}`)
    const isDone = (): boolean => fixture.maps.get(keyOf('a/n/x0'))?.labels['claimed/by'] !== undefined
    let filled: number
    /** Between two turns of the addition. */
    const isGoing = (): boolean => fixture.cache.revision === filled && isDone()

    async function fill(options: Partial<WatchCacheOptions> = {}): Promise<void> {
      const slowly = (cache: WatchCache): Decorator => {
        const { prefix, labels } = decorate(cache)
        const slow: Decorator['labels'] = (...of) => {
          for (const end = performance.now() + 0.05; performance.now() < end; );
          return labels(...of)
        }
        return { prefix, labels: slow }
      }
      await start({ decorate: slowly, ...options })
      filled = await fixture.store.commit(ids.map(id => putting(id, '1')))
      await fixture.cache.at(filled)
    }
    const putting = (id: string, value: string) => ({
      key: storageKey(configMaps, keyOf(id)),
      value: encodeStored(objectOf(id, value)),
    })

    it('in no list and no initial state of the revision before', async () => {
      await fill()
      const { store, maps } = fixture
      const wanted = await listed(maps.list(configMap, forever, { cluster: '*' }))
      const writing = store.commit([putting('a/n/x0', '2')])
      const accepting = accept('a')
      while (!isGoing()) await new Promise(resolve => setImmediate(resolve))
      const query = { cluster: '*', resourceVersion: String(filled), match: 'Exact' } as const
      const watch = maps.watch(configMap, forever, { ...all, initialEvents: true, bookmarks: true })
      const initial = await events(watch, ids.length + 1)
      const found = await Promise.all([
        listed(maps.list(configMap, forever, { cluster: '*' })),
        listed(maps.list(configMap, forever, query)),
      ])
      assert.ok(isGoing())
      assert.deepEqual(found, [wanted, wanted])
      const [written, accepted] = await Promise.all([writing, accepting])
      const later = await events(watch, 1 + ids.length)
      const added = wanted.items.map(item => `ADDED ${item}@${filled}`)
      assert.deepEqual(initial, [...added, `BOOKMARK @${filled}!`])
      assert.equal(later.shift(), `MODIFIED a/n/x0=2@${written}`)
      const changed = ids.map(id => `MODIFIED ${id}=${id === 'a/n/x0' ? 2 : 1}@${accepted}`)
      assert.deepEqual(later.sort(), changed.sort())
    })

    it('and the other changes of the commit are there', async () => {
      await fill()
      const id = 'a//accept'
      const accepting = { key: storageKey(settings, keyOf(id)), value: encodeStored(objectOf(id, '')) }
      const committing = fixture.store.commit([accepting, putting('a/n/x0', '2')])
      while (!isGoing()) await new Promise(resolve => setImmediate(resolve))
      assert.deepEqual(fixture.maps.get(keyOf('a/n/x0'))?.object.data, { value: '2' })
      await fixture.cache.at(await committing)
    })

    it('and bookmarks do not go back', async () => {
      await fill({ bookmarkEvery: 0 })
      const watch = fixture.maps.watch(configMap, forever, { ...all, bookmarks: true })
      const seen: number[] = []
      const reading = (async () => {
        for (let count = 0; count < ids.length; ) {
          const told = (await watch.next()).value ?? []
          seen.push(...told.map(({ item }) => Number(item.meta.resourceVersion)))
          count += told.filter(({ type }) => type === 'MODIFIED').length
          await new Promise(resolve => setImmediate(resolve))
        }
      })()
      await accept('a')
      await reading
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      )
    })
  })
})
