import assert from 'node:assert/strict'
import { Compacted } from '../../../shard/store/store.ts'
import { commit, del, events, type Opened, pairs, put, text } from './opened.ts'

export const ranges = (scene: Opened): void => {
  describe('range', () => {
    it('is sorted by bytes, with the start and without the end', async () => {
      for (const key of ['b', 'a/b', 'a-b', 'a', 'ä', 'a/', 'c']) await commit(scene, put(key, ''))
      assert.deepEqual(await pairs(scene.store.range('a', 'c')), ['a=', 'a-b=', 'a/=', 'a/b=', 'b='])
      assert.deepEqual(await pairs(scene.store.range('c', 'ä')), ['c='])
      assert.deepEqual(await pairs(scene.store.range('x', 'y')), [])
    })

    it('ends at its limit', async () => {
      for (const key of ['a', 'b', 'c']) await commit(scene, put(key, ''))
      assert.deepEqual(await pairs(scene.store.range('a', 'z', { limit: 2 })), ['a=', 'b='])
    })

    it('shows an earlier revision', async () => {
      await commit(scene, put('a', '1'), put('b', '1'))
      await commit(scene, put('a', '2'), put('c', '2'))
      await commit(scene, del('b'))
      await commit(scene, put('a', '3'))
      const at = (revision: number) => pairs(scene.store.range('', '~', { revision: scene.base + revision }))
      assert.deepEqual(await at(0), [])
      assert.deepEqual(await at(1), ['a=1', 'b=1'])
      assert.deepEqual(await at(2), ['a=2', 'b=1', 'c=2'])
      assert.deepEqual(await at(3), ['a=2', 'c=2'])
      const limited = { revision: scene.base + 2, limit: 2 }
      assert.deepEqual(await pairs(scene.store.range('', '~', limited)), ['a=2', 'b=1'])
    })

    it('of many keys is one state, whatever is written meanwhile', async () => {
      const keys = Array.from({ length: 2_500 }, (_, i) => `k${String(i).padStart(5, '0')}`)
      await scene.store.commit(keys.map(key => put(key, 'old')))
      const seen: string[] = []
      for await (const batch of scene.store.range('', '~')) {
        seen.push(...batch.map(value => `${value.key}=${text(value)}`))
        await commit(scene, put('k00001', 'new'), put('k02400', 'new'), put('k02400x', 'new'), del('k02401'))
        await commit(scene, put('k02400', 'newer'))
      }
      assert.deepEqual(
        seen,
        keys.map(key => `${key}=old`),
      )
    })
  })
}

export const compaction = (scene: Opened): void => {
  describe('compact', () => {
    beforeEach(async () => {
      await commit(scene, put('a', '1'))
      await commit(scene, put('a', '2'))
      await commit(scene, put('a', '3'))
      await scene.store.compact(scene.base + 2)
    })

    it('drops history and keeps current values', async () => {
      assert.equal(scene.store.compacted, scene.base + 2)
      assert.equal(text(await scene.store.get('a')), '3')
      await assert.rejects(pairs(scene.store.range('', '~', { revision: scene.base + 1 })), {
        name: 'Compacted',
        oldest: scene.base + 2,
      })
      await assert.rejects(events(scene, '', 1, 1), Compacted)
    })

    it('keeps the state at its revision, and later changes', async () => {
      assert.deepEqual(await pairs(scene.store.range('', '~', { revision: scene.base + 2 })), ['a=2'])
      assert.deepEqual(await events(scene, '', 2, 1), ['3 a 2>3'])
    })

    it('never decreases, nor exceeds the newest revision', async () => {
      await scene.store.compact(scene.base + 1)
      assert.equal(scene.store.compacted, scene.base + 2)
      await scene.store.compact(scene.base + 99)
      assert.equal(scene.store.compacted, scene.base + 3)
      assert.equal(await commit(scene, put('a', '4')), 4)
      assert.deepEqual(await events(scene, '', 3, 1), ['4 a 3>4'])
    })
  })
}
