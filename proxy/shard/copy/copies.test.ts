import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { StatusError, serviceUnavailable } from '../../../framework/errors.ts'
import { type Item, type ItemEvent, initialEventsEnd } from '../../../framework/item.ts'
import { silent } from '../../../framework/log.ts'
import { andLabels, labelEquals } from '../../../framework/selectors/selectors.ts'
import type { ItemWatch, ListQuery, ResourceStorage, WatchQuery } from '../../../framework/storage.ts'
import { viewOf } from '../../../framework/view.ts'
import { testContext } from '../../../test/support/context.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { remoteStorage } from '../storage.ts'
import { ScriptedShard } from '../testing/scriptedshard.ts'
import { Copies } from './copies.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets', identity: 'abc' }
const shown = ({ key, meta }: Item): string => `${key.name}@${meta.resourceVersion}`

function told({ type, item, previous }: ItemEvent): string {
  const end = item.meta.annotations[initialEventsEnd] === undefined ? '' : '!'
  if (type === 'BOOKMARK') return `BOOKMARK @${item.meta.resourceVersion}${end}`
  return `${type} ${shown(item)}${previous === undefined ? '' : ` was @${previous.meta.resourceVersion}`}`
}

describe('copies of what a shard has', () => {
  let shard: ScriptedShard
  let storage: ResourceStorage
  let stop: AbortController

  beforeEach(() => {
    shard = new ScriptedShard()
    stop = new AbortController()
    setMaxListeners(0, stop.signal)
    const copies = new Copies({ isGood: () => shard.failure === undefined, log: silent, signal: stop.signal })
    storage = remoteStorage(shard.connection, ref, copies)
  })
  afterEach(() => stop.abort())

  const ctx = () => testContext({ cluster: '*', signal: stop.signal })
  const watch = (query: Partial<WatchQuery> = {}): ItemWatch =>
    storage.watch(ctx(), { cluster: '*', initialEvents: false, bookmarks: false, ...query })

  async function list(query: Partial<ListQuery> = {}): Promise<readonly string[]> {
    const items: string[] = []
    const pages = storage.list(ctx(), { cluster: '*', ...query })
    let next = await pages.next()
    for (; !next.done; next = await pages.next()) {
      items.push(...[...next.value].map(shown))
      const joined = [...next.value].map(item => item.bytes.toString()).join(',')
      assert.equal(next.value.bytes?.toString() ?? joined, joined)
    }
    return [...items, next.value.resourceVersion]
  }

  async function events(from: ItemWatch, count: number): Promise<readonly string[]> {
    const found: string[] = []
    while (found.length < count) {
      const next = await from.next()
      if (next.done) return [...found, 'end']
      found.push(...next.value.map(told))
    }
    return found
  }

  /** Resolves when the copy has everything. */
  const current = (): Promise<unknown> =>
    eventually(
      () => list({ resourceVersion: '0' }),
      seen => Number(seen.at(-1)) >= shard.revision,
    )

  describe('for watches', () => {
    it('take one watch at the shard for any number of clients, and hand all of them the same events', async () => {
      const first = shard.put('a')
      const from = { resourceVersion: String(first) }
      const watches = Array.from({ length: 50 }, () => watch(from))
      const next = watches.map(each => each.next())
      await eventually(
        async () => shard.watches,
        count => count === 1,
      )
      shard.put('b')
      const batches = await Promise.all(next)
      for (const { value } of batches) assert.equal(value, batches[0]?.value)
      assert.deepEqual(batches[0]?.value?.map(told), ['ADDED b@3'])
      assert.equal(shard.asked(/watch=true/), 1)
    })

    it('tell what an object was, and turn it into what a selector sees', async () => {
      const from = String(shard.put('a', { color: 'red' }))
      const all = watch({ resourceVersion: from })
      const red = watch({ resourceVersion: from, labels: labelEquals('color', 'red') })
      const blue = watch({ resourceVersion: from, labels: labelEquals('color', 'blue') })
      const seen = Promise.all([events(all, 3), events(red, 1), events(blue, 2)])
      await eventually(
        async () => shard.watches,
        count => count === 1,
      )
      shard.put('a', { color: 'blue' })
      shard.put('b', { color: 'green' })
      shard.delete('a')
      assert.deepEqual(await seen, [
        ['MODIFIED a@3 was @2', 'ADDED b@4', 'DELETED a@5 was @3'],
        ['DELETED a@3 was @2'],
        ['ADDED a@3', 'DELETED a@5 was @3'],
      ])
      const [left] =
        (await watch({ resourceVersion: from, labels: labelEquals('color', 'red') }).next()).value ?? []
      assert.deepEqual(left?.item.object.metadata, {
        annotations: { 'kcp.io/cluster': 'one' },
        labels: { color: 'red' },
        name: 'a',
        resourceVersion: '3',
      })
    })

    it('go on where a client was, as long as they remember it, and at the shard when they do not', async () => {
      shard.put('a')
      shard.put('b')
      await events(watch({ resourceVersion: '0', initialEvents: true }), 2)
      shard.put('c')
      shard.put('d')
      await current()
      assert.deepEqual(await events(watch({ resourceVersion: '3' }), 2), ['ADDED c@4', 'ADDED d@5'])
      assert.equal(shard.asked(/watch=true/), 1)
      const early = watch({ resourceVersion: '2' })
      assert.deepEqual(await events(early, 3), ['ADDED b@3', 'ADDED c@4', 'ADDED d@5'])
      shard.put('e')
      assert.deepEqual(await events(early, 1), ['ADDED e@6'])
      await eventually(
        async () => shard.watches,
        count => count === 1,
      )
    })

    it('lose nothing and repeat nothing over connections that are cut', async () => {
      const from = String(shard.put('a'))
      const watches = [watch({ resourceVersion: from }), watch({ resourceVersion: from })]
      const seen = Promise.all(watches.map(each => events(each, 30)))
      for (let n = 0; n < 10; n++) {
        await eventually(
          async () => shard.watches,
          count => count === 1,
        )
        shard.put(`x${n}`)
        shard.cut()
        shard.put(`y${n}`)
        shard.delete(`x${n}`)
      }
      const expected = Array.from({ length: 10 }, (_, n) => [
        `ADDED x${n}@${3 * n + 3}`,
        `ADDED y${n}@${3 * n + 4}`,
        `DELETED x${n}@${3 * n + 5} was @${3 * n + 3}`,
      ])
      for (const each of await seen) assert.deepEqual(each, expected.flat())
    })

    it('leave out what a client knows that they have not heard of yet', async () => {
      await events(watch({ resourceVersion: String(shard.put('a')), initialEvents: true }), 1)
      shard.hold()
      shard.put('b')
      const from = (await list()).at(-1) ?? ''
      const ahead = watch({ resourceVersion: from, bookmarks: true })
      const next = events(ahead, 1)
      shard.put('c')
      shard.release()
      assert.deepEqual(await next, ['ADDED c@4'])
    })

    it('begin with the state: their own when it may be old, the shard’s when it may not', async () => {
      shard.put('a')
      const initial = { initialEvents: true, bookmarks: true }
      assert.deepEqual(await events(watch({ ...initial, resourceVersion: '0' }), 2), [
        'ADDED a@2',
        'BOOKMARK @2!',
      ])
      shard.hold()
      shard.put('b')
      const newest = watch(initial)
      assert.deepEqual(await events(newest, 3), ['ADDED a@2', 'ADDED b@3', 'BOOKMARK @3!'])
      const old = watch({ ...initial, resourceVersion: '0' })
      assert.deepEqual(await events(old, 2), ['ADDED a@2', 'BOOKMARK @2!'])
      shard.release()
      shard.put('c')
      assert.deepEqual(await events(newest, 1), ['ADDED c@4'])
      assert.deepEqual(await events(old, 2), ['ADDED b@3', 'ADDED c@4'])
    })

    it('let go of who reads too slowly: he goes on at the shard', async () => {
      const from = String(shard.put('a'))
      const slow = watch({ resourceVersion: from })
      const first = events(slow, 1)
      await eventually(
        async () => shard.watches,
        count => count === 1,
      )
      const expected = Array.from({ length: 10_100 }, (_, i) => {
        const type = i === 0 ? 'ADDED' : 'MODIFIED'
        return `${type} b@${shard.put('b')}`
      })
      await current()
      const early = await first
      const seen = [...early, ...(await events(slow, expected.length - early.length))]
      assert.deepEqual(
        seen.map(text => text.replace(/ was .*/, '')),
        expected,
      )
    })

    it('end with a bookmark that says what the shard has said', async () => {
      const from = String(shard.put('a'))
      await events(watch({ resourceVersion: from, initialEvents: true }), 1)
      for (let n = 0; n < 5; n++) shard.advance()
      shard.bookmark()
      await current()
      const leaving = watch({ resourceVersion: from, bookmarks: true, deadline: Date.now() + 2_100 })
      assert.deepEqual(await events(leaving, 1), ['BOOKMARK @7'])
    })

    it('send clients to the shard when it has forgotten where they were, and it says so', async () => {
      const from = String(shard.put('a'))
      const watching = watch({ resourceVersion: from })
      const lost = assert.rejects(events(watching, 1), { name: 'StatusError', code: 410 })
      await eventually(
        async () => shard.watches,
        count => count === 1,
      )
      for (let n = 0; n < 3; n++) shard.advance()
      shard.oldest = shard.revision
      shard.cut()
      await lost
      const again = watch({ resourceVersion: '0', initialEvents: true, bookmarks: true })
      assert.deepEqual(await events(again, 2), ['ADDED a@2', `BOOKMARK @${shard.revision}!`])
    })

    it('show everything of what somebody binds later', async () => {
      shard.isBound = false
      const watching = watch({ resourceVersion: '0', initialEvents: true, bookmarks: true })
      assert.deepEqual(await events(watching, 1), ['BOOKMARK @0!'])
      shard.put('a')
      shard.isBound = true
      assert.deepEqual(await events(watching, 1), ['ADDED a@2'])
      shard.put('b')
      assert.deepEqual(await events(watching, 1), ['ADDED b@3'])
    })

    it('wait for a shard that is not there, and fill when it is', async () => {
      shard.put('a')
      shard.failure = serviceUnavailable('not yet')
      const watching = watch({ resourceVersion: '0', initialEvents: true })
      const next = events(watching, 1)
      await eventually(
        async () => shard.targets.length,
        count => count > 2,
      )
      shard.failure = undefined
      assert.deepEqual(await next, ['ADDED a@2'])
    })

    it('pass on that the shard refuses', async () => {
      shard.failure = new StatusError(403, 'Forbidden', 'no')
      await assert.rejects(watch({ resourceVersion: '7' }).next(), { code: 403, message: 'no' })
    })

    it('are of what the view selects, not of everything', async () => {
      const claimed = labelEquals('claimed.internal.apis.kcp.io/abc', 'x')
      shard.put('secret')
      shard.put('a', { 'claimed.internal.apis.kcp.io/abc': 'x' })
      const view = viewOf(storage, () => ({
        narrow: query => ({ ...query, labels: andLabels(query.labels, claimed) }),
      }))
      const state = { cluster: '*', resourceVersion: '0', initialEvents: true, bookmarks: false } as const
      const watching = view.watch(ctx(), state)
      assert.deepEqual(await events(watching, 1), ['ADDED a@3'])
      const red = view.watch(ctx(), { ...state, labels: labelEquals('color', 'red') })
      const seen = events(red, 1)
      shard.put('secret', { 'claimed.internal.apis.kcp.io/abc': 'x', color: 'red' })
      shard.put('a')
      assert.deepEqual(await events(watching, 2), ['ADDED secret@4', 'DELETED a@5 was @3'])
      assert.deepEqual(await seen, ['ADDED secret@4'])
      assert.equal(shard.watches, 1)
      assert.equal(shard.asked(/labelSelector=claimed[^,]*$/), shard.targets.length)
    })
  })

  describe('for updates', () => {
    const key = { cluster: 'one', namespace: '', name: 'a' }
    const options = { dryRun: false, fieldManager: 'test' }
    const change = (change: (current: Item) => object) =>
      storage.update(
        testContext(),
        key,
        current => ({ ...current.object, metadata: { name: 'a', ...change(current) } }),
        options,
      )

    it('are the state that is written over, unless it is not current', async () => {
      shard.put('a')
      await current()
      shard.targets.length = 0
      assert.equal(shown(await change(({ meta }) => ({ labels: { saw: meta.resourceVersion } }))), 'a@3')
      await current()
      shard.hold()
      shard.put('a')
      const written = await change(({ meta }) => ({ labels: { saw: meta.resourceVersion } }))
      assert.deepEqual([shown(written), written.meta.labels], ['a@5', { saw: '4' }])
      const path = '/clusters/one/apis/example.com/v1/widgets:abc/a'
      const put = `PUT ${path}?fieldManager=test`
      assert.deepEqual(
        shard.targets.filter(target => target.includes(path)),
        [put, put, path, put],
      )
    })

    it('refuse nothing that the shard would allow', async () => {
      shard.put('a')
      await current()
      shard.hold()
      shard.put('a', { color: 'red' })
      const onlyRed = ({ meta }: Item): object => {
        if (meta.labels.color !== 'red') throw new StatusError(403, 'Forbidden', 'only red')
        return { labels: { color: 'blue' } }
      }
      assert.equal(shown(await change(onlyRed)), 'a@4')
      shard.put('b')
      await assert.rejects(change(onlyRed), { code: 403, message: 'only red' })
    })

    it('are left alone by who has seen another version', async () => {
      shard.put('a')
      await current()
      shard.hold()
      shard.put('a', { of: 'another' })
      const seen: string[] = []
      await change(({ meta }) => {
        seen.push(meta.resourceVersion)
        return { resourceVersion: '3' }
      })
      assert.deepEqual(seen, ['2', '3'])
      await assert.rejects(
        change(() => ({ resourceVersion: '2' })),
        { code: 409, reason: 'Conflict' },
      )
    })
  })

  describe('for lists', () => {
    const any = { resourceVersion: '0' }

    it('serve what may be old, and what is new enough', async () => {
      shard.put('a', { color: 'red' })
      const version = String(shard.put('b'))
      await current()
      const asked = shard.targets.length
      assert.deepEqual(await list(any), ['a@2', 'b@3', '3'])
      assert.deepEqual(await list({ ...any, limit: 1 }), ['a@2', 'b@3', '3'])
      assert.deepEqual(await list({ ...any, labels: labelEquals('color', 'red') }), ['a@2', '3'])
      assert.deepEqual(await list({ ...any, namespace: 'other' }), ['3'])
      assert.deepEqual(await list({ resourceVersion: version, match: 'NotOlderThan' }), ['a@2', 'b@3', '3'])
      assert.equal(shard.targets.length, asked)
    })

    it('leave to the shard what has to be current, exact, a page, or newer than they are', async () => {
      shard.put('a')
      await current()
      shard.hold()
      shard.put('b')
      const newest = ['a@2', 'b@3', '3']
      assert.deepEqual(await list(any), ['a@2', '2'])
      assert.deepEqual(await list(), newest)
      assert.deepEqual(await list({ resourceVersion: '3', match: 'NotOlderThan' }), newest)
      assert.deepEqual(await list({ resourceVersion: '3', match: 'Exact' }), newest)
      const asked = shard.targets.length
      await list({ limit: 1 })
      await list({ resourceVersion: '2', limit: 1 })
      assert.equal(shard.targets.length, asked + 2)
    })

    it('serve nothing while the shard cannot be used', async () => {
      shard.put('a')
      await current()
      shard.failure = serviceUnavailable('gone')
      await assert.rejects(list(any), { code: 503, message: 'gone' })
      shard.failure = undefined
      assert.deepEqual(await list(any), ['a@2', '2'])
    })

    it('serve nothing of what nobody binds any more', async () => {
      shard.put('a')
      await current()
      shard.isBound = false
      shard.cut()
      assert.deepEqual(
        await eventually(
          () => list(any),
          seen => seen.length === 1,
        ),
        ['0'],
      )
    })

    it('are not asked by whoever acts for a user, nor about one logical cluster', async () => {
      await current()
      const asked = shard.targets.length
      const user = { ...ctx(), actAs: { name: 'alice', groups: [] } }
      for (const each of [user, testContext({ cluster: 'one' })])
        await storage.list(each, { cluster: each.cluster, ...any }).next()
      assert.equal(shard.targets.length, asked + 2)
    })
  })
})
