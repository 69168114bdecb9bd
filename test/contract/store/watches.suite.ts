import assert from 'node:assert/strict'
import { commit, del, events, type Opened, put } from './opened.ts'

export const watches = (scene: Opened): void => {
  describe('watch', () => {
    it('replays history, then follows changes', async () => {
      await commit(scene, put('a', '1'))
      await commit(scene, put('a', '2'), put('b', '1'))
      const found = events(scene, '', 0, 4)
      await commit(scene, del('a'))
      assert.deepEqual(await found, ['1 a ->1', '2 a 1>2', '2 b ->1', '3 a 2>-'])
    })

    it('begins after a revision, also after a future one', async () => {
      await commit(scene, put('a', '1'))
      await commit(scene, put('a', '2'))
      assert.deepEqual(await events(scene, '', 1, 1), ['2 a 1>2'])
      const later = events(scene, '', 3, 1)
      await commit(scene, put('a', '3'))
      await commit(scene, put('a', '4'))
      assert.deepEqual(await later, ['4 a 3>4'])
    })

    it('sends only changes of its prefix', async () => {
      await commit(scene, put('x/a', '1'), put('y/a', '1'))
      await commit(scene, put('y/b', '1'))
      await commit(scene, put('x/b', '1'))
      assert.deepEqual(await events(scene, 'x/', 0, 2), ['1 x/a ->1', '3 x/b ->1'])
    })

    it('never splits a commit over two batches', async () => {
      const stop = new AbortController()
      const sizes: number[] = []
      const done = (async () => {
        for await (const batch of scene.store.watch('', scene.base, stop.signal)) {
          for (const revision of new Set(batch.map(event => event.revision)))
            sizes.push(batch.filter(event => event.revision === revision).length)
          if (sizes.length === 40) break
        }
      })()
      for (let i = 0; i < 40; i++) void commit(scene, put('a', `${i}`), put('b', `${i}`), put('c', `${i}`))
      await done
      assert.deepEqual(new Set(sizes), new Set([3]))
    })

    it('of a slow reader loses and repeats nothing', async () => {
      const watched = scene.store.watch('', scene.base, new AbortController().signal)
      for (let round = 0; round < 20; round++)
        await Promise.all(Array.from({ length: 100 }, (_, i) => commit(scene, put(`k${i}`, `${round}`))))
      const revisions: number[] = []
      for await (const batch of watched) {
        revisions.push(...batch.map(event => event.revision - scene.base))
        if (revisions.length === 2_000) break
      }
      assert.deepEqual(
        revisions,
        Array.from({ length: 2_000 }, (_, i) => i + 1),
      )
    })

    it('ends when its signal is aborted, and when the store is closed', async () => {
      const stop = new AbortController()
      const first = scene.store.watch('', scene.base, stop.signal).next()
      const second = scene.store.watch('', scene.base, new AbortController().signal).next()
      stop.abort()
      assert.equal((await first).done, true)
      await scene.store.close()
      assert.equal((await second).done, true)
    })
  })
}
