import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { surplus } from './history.ts'
import { openLmdbStore } from './lmdb/lmdb.ts'
import { openMemoryStore } from './memory.ts'
import type { Store, StoreEvent } from './store.ts'

const mebibyte = 1024 * 1024
const large = Buffer.alloc(mebibyte, '.')
const limits = { bytes: 8 * mebibyte }

const batchesOf = async (values: AsyncIterable<readonly unknown[]>, until: number): Promise<number[]> => {
  const sizes: number[] = []
  for await (const batch of values) {
    sizes.push(batch.length)
    if (sizes.reduce((sum, size) => sum + size, 0) === until) break
  }
  return sizes
}

interface Opened {
  readonly store: Store
  close(): Promise<void>
}

function limitsOf(name: string, open: () => Promise<Opened>): void {
  describe(`the history of a store: ${name}`, () => {
    let opened: Opened
    let store: Store
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    it('is bounded by bytes', async () => {
      for (let i = 1; i <= 20; i++) await store.commit([{ key: 'a', value: large }])
      assert.ok(store.compacted >= 20 - 5, `compacted at ${store.compacted}`)
      assert.ok(store.compacted < 20, `compacted at ${store.compacted}`)
    })

    it('is read in batches of limited bytes, and so are objects', async () => {
      const keys = Array.from({ length: 40 }, (_, i) => `k${String(i).padStart(2, '0')}`)
      const { signal } = new AbortController()
      const after = store.revision
      const watched = store.watch('', after, signal)
      await store.commit(keys.map(key => ({ key, value: large })))
      assert.deepEqual(await batchesOf(store.range('', '~'), 40), [16, 16, 8])
      assert.deepEqual(await batchesOf(watched, 40), [40])
    })
  })
}

limitsOf('memory', async () => {
  const store = openMemoryStore(limits)
  return { store, close: () => store.close() }
})

limitsOf('lmdb', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'oriel-store-'))
  const store = await openLmdbStore(directory, limits)
  return {
    store,
    async close() {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
})

describe('the history of a store by time', () => {
  it('is kept for readers of the log that are behind, as after a pause of the process', async () => {
    mock.timers.enable({ apis: ['setInterval', 'Date'] })
    try {
      const store = openMemoryStore({ seconds: 300 })
      const { signal } = new AbortController()
      const reading = store.watch('', 0, signal)
      for (const key of ['a', 'b', 'c']) await store.commit([{ key, value: Buffer.from(key) }])
      const [first] = (await reading.next()).value ?? []
      const behind = store.watch('', 1, signal)
      const late = behind.next()
      await late
      for (const key of ['d', 'e']) await store.commit([{ key, value: Buffer.from(key) }])
      mock.timers.tick(3_600_000)
      const keysIn = ({ value }: IteratorResult<readonly StoreEvent[]>): readonly string[] =>
        (value as readonly StoreEvent[]).map(({ key }) => key)
      const read = await Promise.all([reading, behind].map(watch => watch.next()))
      assert.equal(first?.key, 'a')
      assert.deepEqual(read.map(keysIn), [
        ['d', 'e'],
        ['d', 'e'],
      ])
      mock.timers.tick(3_600_000)
      assert.equal(store.compacted, 5)
      await store.close()
    } finally {
      mock.timers.reset()
    }
  })
})

describe('the surplus', () => {
  it('are the first items that are beyond the limits', () => {
    assert.equal(surplus([], { count: 1, bytes: 1 }), 0)
    assert.equal(surplus([1, 1, 1], { count: 3, bytes: 3 }), 0)
    assert.equal(surplus([1, 1, 1], { count: 2, bytes: 3 }), 1)
    assert.equal(surplus([5, 1, 1], { count: 3, bytes: 2 }), 1)
    assert.equal(surplus([1, 1, 5], { count: 3, bytes: 2 }), 3)
  })
})
