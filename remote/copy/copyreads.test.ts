import assert from 'node:assert/strict'
import type { Item } from '../../framework/contract/item.ts'
import { StatusError, serviceUnavailable } from '../../framework/meta/errors.ts'
import { labelEquals } from '../../framework/selectors/selectors.ts'
import { testContext } from '../../test/support/context.ts'
import { eventually } from '../../test/support/oriel.ts'
import { copied, ctx, current, list, shown } from './testing/copied.ts'

describe('copies of resources of a shard', () => {
  const scene = copied()

  describe('for updates', () => {
    const key = { cluster: 'one', namespace: '', name: 'a' }
    const options = { dryRun: false, fieldManager: 'test' }
    const change = (change: (current: Item) => object) =>
      scene.storage.update(
        testContext(),
        key,
        current => ({ ...current.object, metadata: { name: 'a', ...change(current) } }),
        options,
      )

    it('are the base of an update, unless they are stale', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.targets.length = 0
      assert.equal(shown(await change(({ meta }) => ({ labels: { saw: meta.resourceVersion } }))), 'a@3')
      await current(scene)
      scene.shard.hold()
      scene.shard.put('a')
      const written = await change(({ meta }) => ({ labels: { saw: meta.resourceVersion } }))
      assert.deepEqual([shown(written), written.meta.labels], ['a@5', { saw: '4' }])
      const path = '/clusters/one/apis/example.com/v1/widgets:abc/a'
      const put = `PUT ${path}?fieldManager=test`
      assert.deepEqual(
        scene.shard.targets.filter(target => target.includes(path)),
        [put, put, path, put],
      )
    })

    it('do not refuse an update that the shard would allow', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.hold()
      scene.shard.put('a', { color: 'red' })
      const onlyRed = ({ meta }: Item): object => {
        if (meta.labels.color !== 'red') throw new StatusError(403, 'Forbidden', 'only red')
        return { labels: { color: 'blue' } }
      }
      assert.equal(shown(await change(onlyRed)), 'a@4')
      scene.shard.put('b')
      await assert.rejects(change(onlyRed), { code: 403, message: 'only red' })
    })

    it('are not used by a client with another resourceVersion', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.hold()
      scene.shard.put('a', { of: 'another' })
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

    it('serve lists that may be stale, and lists for which they are new enough', async () => {
      scene.shard.put('a', { color: 'red' })
      const version = String(scene.shard.put('b'))
      await current(scene)
      const asked = scene.shard.targets.length
      assert.deepEqual(await list(scene, any), ['a@2', 'b@3', '3'])
      assert.deepEqual(await list(scene, { ...any, limit: 1 }), ['a@2', 'b@3', '3'])
      assert.deepEqual(await list(scene, { ...any, labels: labelEquals('color', 'red') }), ['a@2', '3'])
      assert.deepEqual(await list(scene, { ...any, namespace: 'other' }), ['3'])
      assert.deepEqual(await list(scene, { resourceVersion: version, match: 'NotOlderThan' }), [
        'a@2',
        'b@3',
        '3',
      ])
      assert.equal(scene.shard.targets.length, asked)
    })

    it('leave consistent, exact, paged and newer lists to the shard', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.hold()
      scene.shard.put('b')
      const newest = ['a@2', 'b@3', '3']
      assert.deepEqual(await list(scene, any), ['a@2', '2'])
      assert.deepEqual(await list(scene), newest)
      assert.deepEqual(await list(scene, { resourceVersion: '3', match: 'NotOlderThan' }), newest)
      assert.deepEqual(await list(scene, { resourceVersion: '3', match: 'Exact' }), newest)
      const asked = scene.shard.targets.length
      await list(scene, { limit: 1 })
      await list(scene, { resourceVersion: '2', limit: 1 })
      assert.equal(scene.shard.targets.length, asked + 2)
    })

    it('serve nothing while the shard is unusable', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.failure = serviceUnavailable('gone')
      await assert.rejects(list(scene, any), { code: 503, message: 'gone' })
      scene.shard.failure = undefined
      assert.deepEqual(await list(scene, any), ['a@2', '2'])
    })

    it('serve no objects of a resource without bindings', async () => {
      scene.shard.put('a')
      await current(scene)
      scene.shard.isBound = false
      scene.shard.cut()
      assert.deepEqual(
        await eventually(
          () => list(scene, any),
          seen => seen.length === 1,
        ),
        ['0'],
      )
    })

    it('are not used for requests of users, nor for one logical cluster', async () => {
      await current(scene)
      const asked = scene.shard.targets.length
      const user = { ...ctx(scene), actAs: { name: 'alice', groups: [] } }
      for (const each of [user, testContext({ cluster: 'one' })])
        await scene.storage.list(each, { cluster: each.cluster, ...any }).next()
      assert.equal(scene.shard.targets.length, asked + 2)
    })
  })
})
