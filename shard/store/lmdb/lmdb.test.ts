import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open as lmdb } from 'lmdb'
import { storeContract } from '../../../test/contract/store/contract.suite.ts'
import { Compacted, type Store } from '../store.ts'
import { openLmdbStore } from './lmdb.ts'

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'oriel-store-'))

storeContract('lmdb', async () => {
  const directory = await newDirectory()
  const store = await openLmdbStore(directory)
  return {
    store,
    async close() {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
})

describe('lmdb store', () => {
  let directory: string
  const opened: Store[] = []
  beforeEach(async () => {
    directory = await newDirectory()
  })
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
    await rm(directory, { recursive: true })
  })

  async function open(): Promise<Store> {
    const store = await openLmdbStore(directory)
    opened.push(store)
    return store
  }

  /** Opens the file without the store. */
  const rawStore = () =>
    lmdb({ path: join(directory, 'oriel.mdb'), noSubdir: true, encoding: 'binary', cache: false })

  const put = (key: string, value: string) => [{ key, value: Buffer.from(value) }]

  it('is in a directory that only its owner can read', async () => {
    const inside = join(directory, 'new')
    opened.push(await openLmdbStore(inside))
    assert.equal((await stat(inside)).mode & 0o777, 0o700)
  })

  it('keeps values, revisions, log and compaction across restarts', async () => {
    const before = await open()
    for (let i = 1; i <= 5; i++) await before.commit(put('a', `${i}`))
    await before.compact(2)
    await before.close()
    const after = await open()
    assert.deepEqual([after.revision, after.compacted], [5, 2])
    assert.equal((await after.get('a'))?.value.toString(), '5')
    const { value: events = [] } = await after.watch('', 2, new AbortController().signal).next()
    assert.deepEqual(
      Array.from(events, ({ revision, previous, value }) => `${revision} ${previous?.value}>${value?.value}`),
      ['3 2>3', '4 3>4', '5 4>5'],
    )
    assert.equal(await after.commit(put('a', '6')), 6)
  })

  it('does not read more history than it keeps when it is opened again', async () => {
    const before = await open()
    for (let i = 1; i <= 5; i++) await before.commit(put('a', `${i}`))
    await before.close()
    const after = await openLmdbStore(directory, { commits: 2 })
    opened.push(after)
    assert.deepEqual([after.revision, after.compacted], [5, 3])
  })

  it('keeps its revision when the whole log is compacted', async () => {
    const before = await open()
    await before.commit(put('a', '1'))
    await before.compact(1)
    await before.close()
    assert.equal(await (await open()).commit(put('a', '2')), 2)
  })

  it('compacts a log that is larger than one transaction', async () => {
    const store = await open()
    await Promise.all(Array.from({ length: 3_000 }, (_, i) => store.commit(put('a', `${i}`))))
    await store.compact(2_999)
    await store.close()
    const after = await open()
    assert.deepEqual([after.revision, after.compacted], [3_000, 2_999])
  })

  it('is opened by one process at a time', async () => {
    await open()
    await assert.rejects(
      openLmdbStore(directory),
      new Error(
        `the store in ${directory} is in use by process ${process.pid}: only one process may open it`,
      ),
    )
  })

  it('stops writing when another process has become the owner', async () => {
    const first = await open()
    await first.commit(put('a', '1'))
    const root = rawStore()
    const meta = root.openDB('meta', { encoding: 'binary', cache: false, useVersions: true })
    await meta.put('owner', Buffer.from('{"pid":1,"started":"0"}'), 1)
    const failed = /^Error: the store in .* was taken over by another process$/
    await assert.rejects(first.commit(put('a', '2')), failed)
    await assert.rejects(first.commit(put('a', '3')), failed)
    assert.equal((await first.get('a'))?.value.toString(), '1')
    await first.close()
    const second = await open()
    assert.equal((await second.get('a'))?.value.toString(), '1')
    assert.equal(await second.commit(put('a', '2')), 2)
  })

  for (const [what, change] of [
    ['removed', (path: string) => rm(path)],
    ['moved away', (path: string) => rename(path, `${path}.old`)],
    ['replaced', (path: string) => writeFile(`${path}.new`, '').then(() => rename(`${path}.new`, path))],
  ] as const) {
    it(`acknowledges no write after its file was ${what}`, async () => {
      const store = await open()
      await store.commit(put('a', '1'))
      await change(join(directory, 'oriel.mdb'))
      const lost = new Error(
        `the store in ${directory} cannot be written: oriel.mdb was removed or replaced while it was in use. Restore it, and start again.`,
      )
      await assert.rejects(store.commit(put('a', '2')), lost)
      await assert.rejects(store.commit(put('a', '3')), lost)
      assert.equal((await store.failed).message, lost.message)
      assert.equal((await store.get('a'))?.value.toString(), '1')
      assert.equal(store.revision, 1)
    })
  }

  it('fails without a write when its directory was removed', async () => {
    const store = await open()
    await rm(directory, { recursive: true })
    assert.match((await store.failed).message, /was removed or replaced while it was in use/)
    await store.close()
    assert.equal((await open()).revision, 0)
  })

  it('detects a damaged value, also in the history', async () => {
    const before = await open()
    const value = Buffer.alloc(100, 'x')
    await before.commit([
      { key: 'a', value },
      { key: 'b', value },
    ])
    await before.close()
    const root = rawStore()
    const current = root.openDB<Buffer, string>('current', { encoding: 'binary', cache: false })
    const bytes = Buffer.from(current.getBinary('a') ?? [])
    await current.put('a', bytes.fill('y', 50, 70))
    await root.close()
    const after = await open()
    await assert.rejects(
      after.get('a'),
      new Error('the stored value of a at revision 1 is damaged: its checksum differs'),
    )
    assert.deepEqual((await after.get('b'))?.value, value)
    const found: unknown[] = []
    for await (const values of after.range('', '~'))
      found.push(...values.map(({ key, modified, damaged }) => [key, modified, damaged ?? false]))
    assert.deepEqual(found, [
      ['a', 1, true],
      ['b', 1, false],
    ])
    await after.commit([{ key: 'a', value, expected: 1 }])
    assert.deepEqual((await after.get('a'))?.value, value)
    await after.close()
    const { value: events } = await (await open()).watch('', 1, new AbortController().signal).next()
    assert.ok(Array.isArray(events))
    assert.equal(events[0].previous.damaged, true)
  })

  it('reads values without a checksum', async () => {
    await (await open()).close()
    const root = rawStore()
    const current = root.openDB<Buffer, string>('current', { encoding: 'binary', cache: false })
    const old = Buffer.alloc(19, 'abc')
    old.writeDoubleLE(1, 0)
    old.writeDoubleLE(2, 8)
    await current.put('a', old)
    const meta = root.openDB<Buffer, string>('meta', { encoding: 'binary', cache: false, useVersions: true })
    await meta.put('format', Buffer.from('oriel store 1'), 1)
    await root.close()
    const found = await (await open()).get('a')
    assert.deepEqual([found?.created, found?.modified, found?.value], [1, 2, old.subarray(16)])
  })

  describe('older than the state that clients have seen', () => {
    const backup = (): string => join(directory, 'backup')
    const file = (): string => join(directory, 'oriel.mdb')
    /** Waits until a new file gets a later change time: inodes may be used again. */
    const later = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 2_500))
    const putBack = [
      [
        'copied to a new file',
        () => copyFile(backup(), `${file()}.new`).then(() => rename(`${file()}.new`, file())),
      ],
      ['copied over the file', () => later().then(() => copyFile(backup(), file()))],
    ] as const
    for (const [what, restore] of putBack) {
      it(`because a backup was ${what} continues at new revisions, and expires older watches`, async () => {
        const before = await open()
        await before.commit(put('a', '1'))
        await before.close()
        await copyFile(file(), backup())
        const lost = await open()
        for (let i = 2; i <= 9; i++) await lost.commit(put('a', `${i}`))
        await lost.close()
        await restore()
        const after = await open()
        const first = after.revision
        assert.ok(first > 1_000_000_000, `revision ${first}`)
        assert.equal(after.compacted, first)
        assert.equal((await after.get('a'))?.value.toString(), '1')
        for (const revision of [1, 5, 9])
          await assert.rejects(after.watch('', revision, new AbortController().signal).next(), Compacted)
        assert.equal(await after.commit([{ key: 'a', value: Buffer.from('2'), expected: 1 }]), first + 1)
        await after.close()
        const again = await open()
        assert.deepEqual([again.revision, again.compacted], [first + 1, first])
        await again.close()
        await later()
        await copyFile(backup(), file())
        assert.ok((await open()).revision > first + 1, 'a second restore differs from the first one')
      })
    }

    it('because its file system was rolled back continues at new revisions', async () => {
      const before = await open()
      await before.commit(put('a', '1'))
      await before.close()
      const { now } = Date
      Date.now = () => now() + 301_000
      try {
        assert.ok((await open()).compacted > 1_000_000_000)
      } finally {
        Date.now = now
      }
    })
  })

  it('reports a file of another format', async () => {
    for (const content of ['x', 'hello world\n'.repeat(1_000)]) {
      await writeFile(join(directory, 'oriel.mdb'), content)
      await assert.rejects(
        openLmdbStore(directory),
        new Error(`the store in ${directory} is damaged or has another format: oriel.mdb is not a data file`),
      )
    }
  })

  /** A store with large values, of which the first are kept. */
  async function closedStore(kept: number): Promise<string> {
    const store = await open()
    const value = Buffer.alloc(10_000, 1)
    await store.commit(Array.from({ length: 100 }, (_, i) => ({ key: `k${100 + i}`, value })))
    await store.commit(
      Array.from({ length: 100 - kept }, (_, i) => ({ key: `k${100 + kept + i}`, value: undefined })),
    )
    await store.compact(store.revision)
    for (let i = 0; i < 5; i++) await store.commit(put('small', `${i}`))
    await store.close()
    return join(directory, 'oriel.mdb')
  }

  it('reports a truncated file before LMDB reads it, wherever it is cut off', async () => {
    const file = await closedStore(100)
    const { size } = await stat(file)
    for (const length of [size / 2, 40_960, 8_192]) {
      await truncate(file, length)
      await assert.rejects(
        openLmdbStore(directory),
        new Error(`the store in ${directory} is damaged or has another format: oriel.mdb is cut off`),
      )
      assert.equal((await stat(file)).size, length)
    }
  })

  it('opens a file that lacks unused pages at its end', async () => {
    const file = await closedStore(10)
    await truncate(file, (await stat(file)).size / 2)
    const found: string[] = []
    for await (const values of (await open()).range('', '~')) found.push(...values.map(({ key }) => key))
    assert.equal(found.length, 11)
  })
})
