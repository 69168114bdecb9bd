import assert from 'node:assert/strict'
import type { ItemEvent } from '../../framework/contract/item.ts'
import { parseFieldSelector } from '../../framework/selectors/parse.ts'
import { encodeStored, storageKey } from './codec.ts'
import type { WatchCache } from './contract.ts'
import type { Decorator, WatchCacheEvent } from './item.ts'
import {
  configMap,
  configMaps,
  type Fixture,
  forever,
  keyOf,
  listed,
  objectOf,
  open,
} from './testing/fixture.ts'

const spin = (milliseconds: number): void => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

/** Slow work for one object, and for how many it was done at most in one turn of the event loop. */
function slowWork() {
  let inTurn = 0
  let most = 0
  const work = (): string => {
    if (inTurn++ === 0)
      setImmediate(() => {
        inTurn = 0
      })
    most = Math.max(most, inTurn)
    spin(0.06)
    return ''
  }
  return { work, most: () => most }
}

/** A kind with a field that is slow to read. */
function slowKind() {
  const { work, most } = slowWork()
  return { kind: { ...configMap, fields: { 'data.value': work } }, most }
}

async function fill({ store, cache }: Fixture): Promise<void> {
  const ids = Array.from({ length: 1_500 }, (_, i) => `a/n/x${i}`)
  const changes = ids.map(id => ({
    key: storageKey(configMaps, keyOf(id)),
    value: encodeStored(objectOf(id, '1')),
  }))
  await cache.at(await store.commit(changes))
}

describe('other requests have their turn', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await open()
    await fill(fixture)
  })
  after(() => fixture.close())

  const fields = parseFieldSelector('data.value=nothing')

  it('while a list finds nothing, also with a limit', async () => {
    for (const limit of [0, 1]) {
      const { kind, most } = slowKind()
      const { items } = await listed(fixture.maps.list(kind, forever, { cluster: 'a', fields, limit }))
      assert.deepEqual(items, [])
      assert.ok(most() <= 400, `${most()} objects in one turn`)
    }
  })

  it('while watches find nothing in their initial state', async () => {
    const { kind, most } = slowKind()
    const query = { cluster: 'a', fields, initialEvents: true, bookmarks: true }
    const watches = Array.from({ length: 4 }, () => fixture.maps.watch(kind, forever, query))
    for (const watch of watches) {
      const { value } = await watch.next()
      assert.equal(value?.[0]?.type, 'BOOKMARK')
    }
    assert.ok(most() <= 4 * 192, `${most()} objects in one turn`)
    await Promise.all(watches.map(watch => watch.return()))
  })

  it('while many watches send one event', async () => {
    const query = { cluster: 'a', initialEvents: false, bookmarks: false }
    const watches = Array.from({ length: 100 }, () => fixture.maps.watch(configMap, forever, query))
    let inTurn = 0
    let most = 0
    const counted = async (next: Promise<IteratorResult<readonly ItemEvent[], void>>): Promise<void> => {
      const { done } = await next
      assert.notEqual(done, true)
      if (inTurn++ === 0)
        setImmediate(() => {
          inTurn = 0
        })
      most = Math.max(most, inTurn)
      spin(0.5)
    }
    const all = watches.map(watch => counted(watch.next()))
    await fixture.write('a/n/new', '1')
    await Promise.all(all)
    assert.ok(most <= 48, `${most} watches in one turn`)
    await Promise.all(watches.map(watch => watch.return()))
  })

  it('while a group of commits is applied, each of which becomes visible as a whole', async () => {
    const { work, most } = slowWork()
    const grouped = await open()
    const count = 600
    const differing: string[] = []
    const seen = (): readonly string[] => [...grouped.maps.items()].map(({ key }) => key.name)
    const remove = grouped.cache.subscribe(() => {
      work()
      setImmediate(() => {
        const names = seen()
        if (names.filter(name => name.startsWith('a')).length * 2 !== names.length)
          differing.push(names.join())
      })
    })
    const commits = Array.from({ length: count }, (_, i) =>
      grouped.store.commit(
        ['a', 'b'].map(name => {
          const id = `a/n/${name}${i}`
          return { key: storageKey(configMaps, keyOf(id)), value: encodeStored(objectOf(id, '1')) }
        }),
      ),
    )
    await Promise.all((await Promise.all(commits)).map(revision => grouped.cache.at(revision)))
    remove()
    assert.ok(most() <= 400, `${most()} objects in one turn`)
    assert.deepEqual(differing, [])
    assert.equal(seen().length, 2 * count)
    await grouped.close()
  })

  it('while the labels of objects change that are not stored', async () => {
    const settings = { group: '', resource: 'settings', segment: '-' }
    const { work, most } = slowWork()
    let isChanged = false
    const decorate = (cache: WatchCache): Decorator => {
      const change = (event: WatchCacheEvent): void => {
        isChanged = true
        cache.redecorate(configMaps, 'a', event.revision)
      }
      cache.resource('', 'settings', '-').subscribe(change, { replay: false })
      return { prefix: 'added/', labels: () => ({ 'added/label': isChanged ? `new${work()}` : 'old' }) }
    }
    const decorated = await open({ decorate })
    await fill(decorated)
    const key = storageKey(settings, keyOf('a//change'))
    const changed = await decorated.store.commit([{ key, value: encodeStored(objectOf('a//change', '')) }])
    const later = await decorated.write('a/n/x1', '2')
    assert.ok(most() <= 400, `${most()} objects in one turn`)
    const revisions = [...decorated.maps.items()].map(({ labels, revision }) => [
      labels['added/label'],
      revision,
    ])
    assert.deepEqual(
      revisions.filter(([, revision]) => revision === later),
      [['new', later]],
    )
    assert.equal(revisions.filter(([text, revision]) => text === 'new' && revision === changed).length, 1_499)
    await decorated.close()
  })
})
