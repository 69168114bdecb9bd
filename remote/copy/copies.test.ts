import assert from 'node:assert/strict'
import { viewOf } from '../../framework/lens/view.ts'
import { StatusError, serviceUnavailable } from '../../framework/meta/errors.ts'
import { andLabels, labelEquals } from '../../framework/selectors/selectors.ts'
import { eventually } from '../../test/support/oriel.ts'
import { copied, ctx, current, events, list, told, watch } from './testing/copied.ts'

describe('copies of resources of a shard', () => {
  const scene = copied()

  describe('for watches', () => {
    it('use one watch at the shard for any number of clients, which all get the same events', async () => {
      const first = scene.shard.put('a')
      const from = { resourceVersion: String(first) }
      const watches = Array.from({ length: 50 }, () => watch(scene, from))
      const next = watches.map(each => each.next())
      await eventually(
        async () => scene.shard.watches,
        count => count === 1,
      )
      scene.shard.put('b')
      const batches = await Promise.all(next)
      for (const { value } of batches) assert.equal(value, batches[0]?.value)
      assert.deepEqual(batches[0]?.value?.map(told), ['ADDED b@3'])
      assert.equal(scene.shard.asked(/watch=true/), 1)
    })

    it('report the previous object, and convert event types for selectors', async () => {
      const from = String(scene.shard.put('a', { color: 'red' }))
      const all = watch(scene, { resourceVersion: from })
      const red = watch(scene, { resourceVersion: from, labels: labelEquals('color', 'red') })
      const blue = watch(scene, { resourceVersion: from, labels: labelEquals('color', 'blue') })
      const seen = Promise.all([events(all, 3), events(red, 1), events(blue, 2)])
      await eventually(
        async () => scene.shard.watches,
        count => count === 1,
      )
      scene.shard.put('a', { color: 'blue' })
      scene.shard.put('b', { color: 'green' })
      scene.shard.delete('a')
      assert.deepEqual(await seen, [
        ['MODIFIED a@3 was @2', 'ADDED b@4', 'DELETED a@5 was @3'],
        ['DELETED a@3 was @2'],
        ['ADDED a@3', 'DELETED a@5 was @3'],
      ])
      const [left] =
        (await watch(scene, { resourceVersion: from, labels: labelEquals('color', 'red') }).next()).value ??
        []
      assert.deepEqual(left?.item.object.metadata, {
        annotations: { 'kcp.io/cluster': 'one' },
        labels: { color: 'red' },
        name: 'a',
        resourceVersion: '3',
      })
    })

    it('resume from a resourceVersion in the event window, and otherwise at the shard', async () => {
      scene.shard.put('a')
      scene.shard.put('b')
      await events(watch(scene, { resourceVersion: '0', initialEvents: true }), 2)
      scene.shard.put('c')
      scene.shard.put('d')
      await current(scene)
      assert.deepEqual(await events(watch(scene, { resourceVersion: '3' }), 2), ['ADDED c@4', 'ADDED d@5'])
      assert.equal(scene.shard.asked(/watch=true/), 1)
      const early = watch(scene, { resourceVersion: '2' })
      assert.deepEqual(await events(early, 3), ['ADDED b@3', 'ADDED c@4', 'ADDED d@5'])
      scene.shard.put('e')
      assert.deepEqual(await events(early, 1), ['ADDED e@6'])
      await eventually(
        async () => scene.shard.watches,
        count => count === 1,
      )
    })

    it('lose and repeat no event when connections are cut', async () => {
      const from = String(scene.shard.put('a'))
      const watches = [watch(scene, { resourceVersion: from }), watch(scene, { resourceVersion: from })]
      const seen = Promise.all(watches.map(each => events(each, 30)))
      for (let n = 0; n < 10; n++) {
        await eventually(
          async () => scene.shard.watches,
          count => count === 1,
        )
        scene.shard.put(`x${n}`)
        scene.shard.cut()
        scene.shard.put(`y${n}`)
        scene.shard.delete(`x${n}`)
      }
      const expected = Array.from({ length: 10 }, (_, n) => [
        `ADDED x${n}@${3 * n + 3}`,
        `ADDED y${n}@${3 * n + 4}`,
        `DELETED x${n}@${3 * n + 5} was @${3 * n + 3}`,
      ])
      for (const each of await seen) assert.deepEqual(each, expected.flat())
    })

    it('skip events up to a newer resourceVersion that the client already has', async () => {
      await events(watch(scene, { resourceVersion: String(scene.shard.put('a')), initialEvents: true }), 1)
      scene.shard.hold()
      scene.shard.put('b')
      const from = (await list(scene)).at(-1) ?? ''
      const ahead = watch(scene, { resourceVersion: from, bookmarks: true })
      const next = events(ahead, 1)
      scene.shard.put('c')
      scene.shard.release()
      assert.deepEqual(await next, ['ADDED c@4'])
    })

    it('send initial events from the copy when it may be stale, and otherwise from the shard', async () => {
      scene.shard.put('a')
      const initial = { initialEvents: true, bookmarks: true }
      assert.deepEqual(await events(watch(scene, { ...initial, resourceVersion: '0' }), 2), [
        'ADDED a@2',
        'BOOKMARK @2!',
      ])
      scene.shard.hold()
      scene.shard.put('b')
      const newest = watch(scene, initial)
      assert.deepEqual(await events(newest, 3), ['ADDED a@2', 'ADDED b@3', 'BOOKMARK @3!'])
      const old = watch(scene, { ...initial, resourceVersion: '0' })
      assert.deepEqual(await events(old, 2), ['ADDED a@2', 'BOOKMARK @2!'])
      scene.shard.release()
      scene.shard.put('c')
      assert.deepEqual(await events(newest, 1), ['ADDED c@4'])
      assert.deepEqual(await events(old, 2), ['ADDED b@3', 'ADDED c@4'])
    })

    it('move a slow client to a watch at the shard', async () => {
      const from = String(scene.shard.put('a'))
      const slow = watch(scene, { resourceVersion: from })
      const first = events(slow, 1)
      await eventually(
        async () => scene.shard.watches,
        count => count === 1,
      )
      const expected = Array.from({ length: 10_100 }, (_, i) => {
        const type = i === 0 ? 'ADDED' : 'MODIFIED'
        return `${type} b@${scene.shard.put('b')}`
      })
      await current(scene)
      const early = await first
      const seen = [...early, ...(await events(slow, expected.length - early.length))]
      assert.deepEqual(
        seen.map(text => text.replace(/ was .*/, '')),
        expected,
      )
    })

    it('end initial events with a bookmark of the shard’s resourceVersion', async () => {
      const from = String(scene.shard.put('a'))
      await events(watch(scene, { resourceVersion: from, initialEvents: true }), 1)
      for (let n = 0; n < 5; n++) scene.shard.advance()
      scene.shard.bookmark()
      await current(scene)
      const leaving = watch(scene, { resourceVersion: from, bookmarks: true, deadline: Date.now() + 2_100 })
      assert.deepEqual(await events(leaving, 1), ['BOOKMARK @7'])
    })

    it('send clients to the shard when the resourceVersion is too old, and pass on its 410', async () => {
      const from = String(scene.shard.put('a'))
      const watching = watch(scene, { resourceVersion: from })
      const lost = assert.rejects(events(watching, 1), { name: 'StatusError', code: 410 })
      await eventually(
        async () => scene.shard.watches,
        count => count === 1,
      )
      for (let n = 0; n < 3; n++) scene.shard.advance()
      scene.shard.oldest = scene.shard.revision
      scene.shard.cut()
      await lost
      const again = watch(scene, { resourceVersion: '0', initialEvents: true, bookmarks: true })
      assert.deepEqual(await events(again, 2), ['ADDED a@2', `BOOKMARK @${scene.shard.revision}!`])
    })

    it('show all objects of a resource that is bound later', async () => {
      scene.shard.isBound = false
      const watching = watch(scene, { resourceVersion: '0', initialEvents: true, bookmarks: true })
      assert.deepEqual(await events(watching, 1), ['BOOKMARK @0!'])
      scene.shard.put('a')
      scene.shard.isBound = true
      assert.deepEqual(await events(watching, 1), ['ADDED a@2'])
      scene.shard.put('b')
      assert.deepEqual(await events(watching, 1), ['ADDED b@3'])
    })

    it('wait for an unreachable shard, and fill when it is reachable', async () => {
      scene.shard.put('a')
      scene.shard.failure = serviceUnavailable('not yet')
      const watching = watch(scene, { resourceVersion: '0', initialEvents: true })
      const next = events(watching, 1)
      await eventually(
        async () => scene.shard.targets.length,
        count => count > 2,
      )
      scene.shard.failure = undefined
      assert.deepEqual(await next, ['ADDED a@2'])
    })

    it('pass on the shard’s refusal', async () => {
      scene.shard.failure = new StatusError(403, 'Forbidden', 'no')
      await assert.rejects(watch(scene, { resourceVersion: '7' }).next(), { code: 403, message: 'no' })
    })

    it('contain only the objects that the view selects', async () => {
      const claimed = labelEquals('claimed.internal.apis.kcp.io/abc', 'x')
      scene.shard.put('secret')
      scene.shard.put('a', { 'claimed.internal.apis.kcp.io/abc': 'x' })
      const view = viewOf(scene.storage, () => ({
        narrow: query => ({ ...query, labels: andLabels(query.labels, claimed) }),
      }))
      const state = { cluster: '*', resourceVersion: '0', initialEvents: true, bookmarks: false } as const
      const watching = view.watch(ctx(scene), state)
      assert.deepEqual(await events(watching, 1), ['ADDED a@3'])
      const red = view.watch(ctx(scene), { ...state, labels: labelEquals('color', 'red') })
      const seen = events(red, 1)
      scene.shard.put('secret', { 'claimed.internal.apis.kcp.io/abc': 'x', color: 'red' })
      scene.shard.put('a')
      assert.deepEqual(await events(watching, 2), ['ADDED secret@4', 'DELETED a@5 was @3'])
      assert.deepEqual(await seen, ['ADDED secret@4'])
      assert.equal(scene.shard.watches, 1)
      assert.equal(scene.shard.asked(/labelSelector=claimed[^,]*$/), scene.shard.targets.length)
    })
  })
})
