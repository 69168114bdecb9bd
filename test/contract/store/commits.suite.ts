import assert from 'node:assert/strict'
import { StoreConflict, type StoredValue } from '../../../shard/store/store.ts'
import { commit, del, type Opened, pairs, put, text } from './opened.ts'

const revisionsOf = (value: StoredValue | undefined, { base }: Opened): readonly number[] =>
  value === undefined ? [] : [value.created - base, value.modified - base]

export const values = (scene: Opened): void => {
  describe('values', () => {
    it('begin empty, with nothing to read before', async () => {
      assert.equal(scene.store.compacted, scene.store.revision)
      assert.equal(await scene.store.latest(), scene.store.revision)
      assert.equal(await scene.store.get('a'), undefined)
      assert.deepEqual(await pairs(scene.store.range('', '~')), [])
    })

    it('carry the revisions of their creation and of their last change', async () => {
      assert.equal(await commit(scene, put('a', '1')), 1)
      assert.equal(await commit(scene, put('b', '1')), 2)
      assert.equal(await commit(scene, put('a', '2')), 3)
      const found = await scene.store.get('a')
      assert.deepEqual([text(found), ...revisionsOf(found, scene)], ['2', 1, 3])
      assert.equal(scene.store.revision, scene.base + 3)
    })

    it('are created again after a deletion', async () => {
      await commit(scene, put('a', '1'))
      await commit(scene, del('a'))
      assert.equal(await scene.store.get('a'), undefined)
      await commit(scene, put('a', '2'))
      assert.deepEqual(revisionsOf(await scene.store.get('a'), scene), [3, 3])
    })

    it('may be any bytes, empty or large', async () => {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 256))
      await scene.store.commit([{ key: 'a', value: bytes }])
      await scene.store.commit([{ key: 'b', value: Buffer.alloc(0) }])
      assert.deepEqual((await scene.store.get('a'))?.value, bytes)
      assert.equal((await scene.store.get('b'))?.value.length, 0)
    })

    it('do not change while readers hold them', async () => {
      await commit(scene, put('a', 'first'))
      const found = await scene.store.get('a')
      for (let i = 0; i < 50; i++) await commit(scene, put('a', `later ${i}`))
      assert.equal(text(found), 'first')
    })
  })
}

export const commits = (scene: Opened): void => {
  describe('commit', () => {
    it('is all or nothing', async () => {
      await commit(scene, put('a', '1'))
      await assert.rejects(commit(scene, put('b', '1'), put('a', '2', 7)), StoreConflict)
      assert.equal(await scene.store.get('b'), undefined)
      assert.equal(text(await scene.store.get('a')), '1')
      assert.equal(scene.store.revision, scene.base + 1)
    })

    it('gives all its changes one revision', async () => {
      await commit(scene, put('a', '1'), put('b', '1'))
      assert.deepEqual(revisionsOf(await scene.store.get('a'), scene), [1, 1])
      assert.deepEqual(revisionsOf(await scene.store.get('b'), scene), [1, 1])
    })

    it('compares with the expected revision; 0 is "must not exist"', async () => {
      await commit(scene, put('a', '1', 0))
      await assert.rejects(commit(scene, put('a', '2', 0)), { name: 'StoreConflict', key: 'a' })
      await commit(scene, put('a', '2', 1))
      await assert.rejects(commit(scene, del('a', 1)), StoreConflict)
      await commit(scene, del('a', 2))
      await commit(scene, put('a', '3', 0))
      assert.equal(text(await scene.store.get('a')), '3')
    })

    for (const [size, others] of [
      ['one change', []],
      ['many changes', Array.from({ length: 70 }, (_, i) => put(`k${i}`, '1'))],
    ] as const)
      it(`with ${size} requires the revisions of keys that it does not change`, async () => {
        const at = await scene.store.commit([put('a', '1')])
        const required = (key: string, expected: number) => [{ key, expected }]
        const write = (...conditions: ReturnType<typeof required>) =>
          scene.store.commit([put('b', '1', 0), ...others], conditions)
        await assert.rejects(write(...required('a', 0)), { name: 'StoreConflict', key: 'a' })
        await assert.rejects(write(...required('c', at)), { name: 'StoreConflict', key: 'c' })
        await write(...required('a', at), ...required('c', 0))
        assert.equal((await scene.store.get('a'))?.modified, at)
        await assert.rejects(write(...required('a', at)), { name: 'StoreConflict', key: 'b' })
      })

    it('succeeds for one of many concurrent writers', async () => {
      await commit(scene, put('n', '0'))
      const raced = await Promise.allSettled(
        Array.from({ length: 20 }, () => commit(scene, put('n', '1', 1))),
      )
      assert.equal(raced.filter(({ status }) => status === 'fulfilled').length, 1)
    })

    it('is visible only after it is acknowledged', async () => {
      await commit(scene, put('a', '1'))
      const pending = commit(scene, put('a', '2'), put('b', '2'))
      assert.equal(scene.store.revision, scene.base + 1)
      assert.equal(text(await scene.store.get('a')), '1')
      assert.deepEqual(await pairs(scene.store.range('', '~', { revision: scene.base + 1 })), ['a=1'])
      await pending
      assert.deepEqual(await pairs(scene.store.range('', '~')), ['a=2', 'b=2'])
    })

    it('of many changes is all or nothing, too', async () => {
      const keys = Array.from({ length: 300 }, (_, i) => `k${String(i).padStart(3, '0')}`)
      const everything = (expected: number) => keys.map(key => put(key, `${expected}`, expected))
      assert.equal(await commit(scene, ...everything(0)), 1)
      assert.equal(await commit(scene, put('k150', 'other')), 2)
      await assert.rejects(commit(scene, ...everything(1)), { name: 'StoreConflict', key: 'k150' })
      assert.equal(scene.store.revision, scene.base + 2)
      const rest = keys.filter(key => key !== 'k150').map(key => del(key, 1))
      assert.equal(await commit(scene, ...rest, del('missing')), 3)
      assert.deepEqual(await pairs(scene.store.range('', '~')), ['k150=other'])
    })

    it('raises the latest revision', async () => {
      const revision = await commit(scene, put('a', '1'))
      assert.equal(await scene.store.latest(), scene.base + revision)
    })

    it('that deletes missing keys creates no revision', async () => {
      await commit(scene, put('a', '1'))
      assert.equal(await commit(scene, del('b')), 1)
      assert.equal(scene.store.revision, scene.base + 1)
    })

    it('refuses duplicate keys, and keys that are too long', async () => {
      await assert.rejects(commit(scene, put('a', '1'), put('a', '2')), /names a twice/)
      await assert.rejects(commit(scene, put('k'.repeat(2_000), '1')), /at most 1900 bytes/)
      assert.equal(await commit(scene, put('k'.repeat(1_900), '1')), 1)
    })
  })

  it('refuses commits after it was closed, and keeps earlier ones', async () => {
    const last = commit(scene, put('a', '1'))
    await scene.store.close()
    assert.equal(await last, 1)
    await assert.rejects(commit(scene, put('b', '1')), /closed/)
  })
}

/** What holds without other writers. */
export const oneWriter = (scene: Opened): void => {
  describe('commit of the only writer', () => {
    it('is refused when the commit before it is acknowledged, so that the newest revision is that of it', async () => {
      const { store } = scene
      const first = store.commit([put('a', '1', 0)])
      await assert.rejects(store.commit([put('a', '2', 0)]), StoreConflict)
      assert.equal(await store.latest(), await first)
      const third = store.commit([put('a', '3')])
      const conditions = [{ key: 'a', expected: await first }]
      await assert.rejects(store.commit([put('b', '1', 0)], conditions), StoreConflict)
      assert.equal(await store.latest(), await third)
    })

    it('is checked against earlier commits that are not durable yet', async () => {
      const first = commit(scene, put('a', '1', 0))
      const second = commit(scene, put('a', '2', 0))
      const third = commit(scene, put('a', '3', 1))
      const fourth = commit(scene, del('a', 2))
      await assert.rejects(second, StoreConflict)
      assert.deepEqual(await Promise.all([first, third, fourth]), [1, 2, 3])
      assert.equal(await scene.store.get('a'), undefined)
    })

    it('keeps acknowledged revisions in the order of the calls', async () => {
      const revisions = await Promise.all(
        Array.from({ length: 200 }, (_, i) => commit(scene, put(`k${i}`, ''))),
      )
      assert.deepEqual(
        revisions,
        Array.from({ length: 200 }, (_, i) => i + 1),
      )
    })
  })
}
