import assert from 'node:assert/strict'
import {
  Compacted,
  type Store,
  StoreConflict,
  type StoredValue,
  type StoreEvent,
} from '../../shard/store/store.ts'

/** Opens an empty store; `close` also removes what it left behind. */
export type OpenStore = () => Promise<{ readonly store: Store; close(): Promise<void> }>

const text = (value: StoredValue | undefined): string | undefined => value?.value.toString()
const put = (key: string, value: string, expected?: number) => ({
  key,
  value: Buffer.from(value),
  ...(expected === undefined ? {} : { expected }),
})
const del = (key: string, expected?: number) => ({
  key,
  value: undefined,
  ...(expected === undefined ? {} : { expected }),
})

async function pairs(values: AsyncIterable<readonly StoredValue[]>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const batch of values) for (const value of batch) found.push(`${value.key}=${text(value)}`)
  return found
}

const short = ({ revision, key, value, previous }: StoreEvent): string =>
  `${revision} ${key} ${text(previous) ?? '-'}>${text(value) ?? '-'}`

/** Reads a watch until `count` events have come. */
async function events(
  store: Store,
  prefix: string,
  after: number,
  count: number,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const found: string[] = []
  for await (const batch of store.watch(prefix, after, stop.signal)) {
    found.push(...batch.map(short))
    if (found.length >= count) break
  }
  stop.abort()
  return found
}

/** What every `Store` promises. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    let store: Store
    let close: () => Promise<void>
    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      close = opened.close
    })
    afterEach(() => close())

    const commit = (...changes: Parameters<Store['commit']>[0]) => store.commit(changes)

    describe('values', () => {
      it('begin empty, at revision 0', async () => {
        assert.equal(store.revision, 0)
        assert.equal(store.compacted, 0)
        assert.equal(await store.get('a'), undefined)
        assert.deepEqual(await pairs(store.range('', '~')), [])
      })

      it('carry the revisions of their creation and of their last change', async () => {
        assert.equal(await commit(put('a', '1')), 1)
        assert.equal(await commit(put('b', '1')), 2)
        assert.equal(await commit(put('a', '2')), 3)
        const found = await store.get('a')
        assert.deepEqual([text(found), found?.created, found?.modified], ['2', 1, 3])
        assert.equal(store.revision, 3)
      })

      it('are created anew after a deletion', async () => {
        await commit(put('a', '1'))
        await commit(del('a'))
        assert.equal(await store.get('a'), undefined)
        await commit(put('a', '2'))
        assert.equal((await store.get('a'))?.created, 3)
      })

      it('may be any bytes, none and many', async () => {
        const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 256))
        await store.commit([{ key: 'a', value: bytes }])
        await store.commit([{ key: 'b', value: Buffer.alloc(0) }])
        assert.deepEqual((await store.get('a'))?.value, bytes)
        assert.equal((await store.get('b'))?.value.length, 0)
      })

      it('stay what they were in the hands of readers', async () => {
        await commit(put('a', 'first'))
        const found = await store.get('a')
        for (let i = 0; i < 50; i++) await commit(put('a', `later ${i}`))
        assert.equal(text(found), 'first')
      })
    })

    describe('commit', () => {
      it('is all or nothing', async () => {
        await commit(put('a', '1'))
        await assert.rejects(commit(put('b', '1'), put('a', '2', 7)), StoreConflict)
        assert.equal(await store.get('b'), undefined)
        assert.equal(text(await store.get('a')), '1')
        assert.equal(store.revision, 1)
      })

      it('gives all its changes one revision', async () => {
        await commit(put('a', '1'), put('b', '1'))
        assert.equal((await store.get('a'))?.modified, 1)
        assert.equal((await store.get('b'))?.modified, 1)
      })

      it('compares with the expected revision; 0 is "not there"', async () => {
        await commit(put('a', '1', 0))
        await assert.rejects(commit(put('a', '2', 0)), { name: 'StoreConflict', key: 'a' })
        await commit(put('a', '2', 1))
        await assert.rejects(commit(del('a', 1)), StoreConflict)
        await commit(del('a', 2))
        await commit(put('a', '3', 0))
        assert.equal(text(await store.get('a')), '3')
      })

      it('sees earlier commits that are still on their way', async () => {
        const first = commit(put('a', '1', 0))
        const second = commit(put('a', '2', 0))
        const third = commit(put('a', '3', 1))
        const fourth = commit(del('a', 2))
        await assert.rejects(second, StoreConflict)
        assert.deepEqual(await Promise.all([first, third, fourth]), [1, 2, 3])
        assert.equal(await store.get('a'), undefined)
      })

      it('lets one of many racing writers win', async () => {
        await commit(put('n', '0'))
        const raced = await Promise.allSettled(Array.from({ length: 20 }, () => commit(put('n', '1', 1))))
        assert.equal(raced.filter(({ status }) => status === 'fulfilled').length, 1)
      })

      it('is seen by nobody before it is acknowledged', async () => {
        await commit(put('a', '1'))
        const pending = commit(put('a', '2'), put('b', '2'))
        assert.equal(store.revision, 1)
        assert.equal(text(await store.get('a')), '1')
        assert.deepEqual(await pairs(store.range('', '~', { revision: 1 })), ['a=1'])
        await pending
        assert.deepEqual(await pairs(store.range('', '~')), ['a=2', 'b=2'])
      })

      it('that deletes what is not there makes no revision', async () => {
        await commit(put('a', '1'))
        assert.equal(await commit(del('b')), 1)
        assert.equal(store.revision, 1)
      })

      it('refuses a key twice, and keys that are too long', async () => {
        await assert.rejects(commit(put('a', '1'), put('a', '2')), /names a twice/)
        await assert.rejects(commit(put('k'.repeat(2_000), '1')), /at most 1900 bytes/)
        assert.equal(await commit(put('k'.repeat(1_900), '1')), 1)
      })

      it('keeps acknowledged revisions in the order of the calls', async () => {
        const revisions = await Promise.all(Array.from({ length: 200 }, (_, i) => commit(put(`k${i}`, ''))))
        assert.deepEqual(
          revisions,
          Array.from({ length: 200 }, (_, i) => i + 1),
        )
      })
    })

    describe('range', () => {
      it('is sorted by bytes, with the start and without the end', async () => {
        for (const key of ['b', 'a/b', 'a-b', 'a', 'ä', 'a/', 'c']) await commit(put(key, ''))
        assert.deepEqual(await pairs(store.range('a', 'c')), ['a=', 'a-b=', 'a/=', 'a/b=', 'b='])
        assert.deepEqual(await pairs(store.range('c', 'ä')), ['c='])
        assert.deepEqual(await pairs(store.range('x', 'y')), [])
      })

      it('ends at its limit', async () => {
        for (const key of ['a', 'b', 'c']) await commit(put(key, ''))
        assert.deepEqual(await pairs(store.range('a', 'z', { limit: 2 })), ['a=', 'b='])
      })

      it('shows an earlier revision', async () => {
        await commit(put('a', '1'), put('b', '1'))
        await commit(put('a', '2'), put('c', '2'))
        await commit(del('b'))
        await commit(put('a', '3'))
        const at = (revision: number) => pairs(store.range('', '~', { revision }))
        assert.deepEqual(await at(0), [])
        assert.deepEqual(await at(1), ['a=1', 'b=1'])
        assert.deepEqual(await at(2), ['a=2', 'b=1', 'c=2'])
        assert.deepEqual(await at(3), ['a=2', 'c=2'])
        assert.deepEqual(await pairs(store.range('', '~', { revision: 2, limit: 2 })), ['a=2', 'b=1'])
      })

      it('of many keys is one state, whatever is written meanwhile', async () => {
        const keys = Array.from({ length: 2_500 }, (_, i) => `k${String(i).padStart(5, '0')}`)
        await store.commit(keys.map(key => put(key, 'old')))
        const seen: string[] = []
        for await (const batch of store.range('', '~')) {
          seen.push(...batch.map(value => `${value.key}=${text(value)}`))
          await commit(put('k00001', 'new'), put('k02400', 'new'), put('k02400x', 'new'), del('k02401'))
          await commit(put('k02400', 'newer'))
        }
        assert.deepEqual(
          seen,
          keys.map(key => `${key}=old`),
        )
      })
    })

    describe('watch', () => {
      it('replays the past, then follows', async () => {
        await commit(put('a', '1'))
        await commit(put('a', '2'), put('b', '1'))
        const found = events(store, '', 0, 4)
        await commit(del('a'))
        assert.deepEqual(await found, ['1 a ->1', '2 a 1>2', '2 b ->1', '3 a 2>-'])
      })

      it('begins after a revision, also after one that has not come', async () => {
        await commit(put('a', '1'))
        await commit(put('a', '2'))
        assert.deepEqual(await events(store, '', 1, 1), ['2 a 1>2'])
        const later = events(store, '', 3, 1)
        await commit(put('a', '3'))
        await commit(put('a', '4'))
        assert.deepEqual(await later, ['4 a 3>4'])
      })

      it('tells only of its prefix', async () => {
        await commit(put('x/a', '1'), put('y/a', '1'))
        await commit(put('y/b', '1'))
        await commit(put('x/b', '1'))
        assert.deepEqual(await events(store, 'x/', 0, 2), ['1 x/a ->1', '3 x/b ->1'])
      })

      it('never splits a commit over two batches', async () => {
        const stop = new AbortController()
        const sizes: number[] = []
        const done = (async () => {
          for await (const batch of store.watch('', 0, stop.signal)) {
            for (const revision of new Set(batch.map(event => event.revision)))
              sizes.push(batch.filter(event => event.revision === revision).length)
            if (sizes.length === 40) break
          }
        })()
        for (let i = 0; i < 40; i++) void commit(put('a', `${i}`), put('b', `${i}`), put('c', `${i}`))
        await done
        assert.deepEqual(new Set(sizes), new Set([3]))
      })

      it('of a slow reader misses and repeats nothing', async () => {
        const watched = store.watch('', 0, new AbortController().signal)
        for (let round = 0; round < 50; round++)
          await Promise.all(Array.from({ length: 100 }, (_, i) => commit(put(`k${i}`, `${round}`))))
        const revisions: number[] = []
        for await (const batch of watched) {
          revisions.push(...batch.map(event => event.revision))
          if (revisions.length === 5_000) break
        }
        assert.deepEqual(
          revisions,
          Array.from({ length: 5_000 }, (_, i) => i + 1),
        )
      })

      it('ends when its signal is aborted, and when the store is closed', async () => {
        const stop = new AbortController()
        const first = store.watch('', 0, stop.signal).next()
        const second = store.watch('', 0, new AbortController().signal).next()
        stop.abort()
        assert.equal((await first).done, true)
        await store.close()
        assert.equal((await second).done, true)
      })
    })

    describe('compact', () => {
      beforeEach(async () => {
        await commit(put('a', '1'))
        await commit(put('a', '2'))
        await commit(put('a', '3'))
        await store.compact(2)
      })

      it('forgets the past and keeps the present', async () => {
        assert.equal(store.compacted, 2)
        assert.equal(text(await store.get('a')), '3')
        await assert.rejects(pairs(store.range('', '~', { revision: 1 })), { name: 'Compacted', oldest: 2 })
        await assert.rejects(events(store, '', 1, 1), Compacted)
      })

      it('leaves the state at its revision, and what came after it', async () => {
        assert.deepEqual(await pairs(store.range('', '~', { revision: 2 })), ['a=2'])
        assert.deepEqual(await events(store, '', 2, 1), ['3 a 2>3'])
      })

      it('never goes back, nor beyond the newest revision', async () => {
        await store.compact(1)
        assert.equal(store.compacted, 2)
        await store.compact(99)
        assert.equal(store.compacted, 3)
        assert.equal(await commit(put('a', '4')), 4)
        assert.deepEqual(await events(store, '', 3, 1), ['4 a 3>4'])
      })
    })

    it('refuses commits after it was closed, and has kept those before', async () => {
      const last = commit(put('a', '1'))
      await store.close()
      assert.equal(await last, 1)
      await assert.rejects(commit(put('b', '1')), /closed/)
    })
  })
}
