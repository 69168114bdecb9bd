import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Store, StoreError } from '../store.ts'
import { openLmdbStore } from './lmdb.ts'
import { fileName, openTables } from './tables.ts'

describe('the file of a store', () => {
  let directory: string
  let store: Store
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-store-'))
    store = await openLmdbStore(directory)
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  async function fill(count: number, bytes: number): Promise<void> {
    const value = Buffer.alloc(bytes)
    for (let i = 0; i < count; i++) await store.commit([{ key: `k${i}`, value }])
  }

  it('has as many commits in a page of its log as there is room for', async () => {
    await fill(100, 1_500)
    const { root, log } = await openTables(directory, 'read')
    const { treeLeafPageCount } = log.getStats() as { treeLeafPageCount: number }
    await root.close()
    assert.ok(treeLeafPageCount <= 52, `${treeLeafPageCount} pages, of which each has room for two`)
  })

  it('is named when it cannot be read, as for a server that starts', async () => {
    const other = join(directory, 'other')
    await mkdir(join(other, fileName), { recursive: true })
    for (const mode of ['read', 'write'] as const)
      await assert.rejects(
        openTables(other, mode),
        error =>
          error instanceof StoreError &&
          error.message.startsWith(`the store in ${other} cannot be opened: EISDIR: `),
      )
  })

  it('has keys with NUL, which older versions accepted', async () => {
    const key = '/registry/a\0b'
    await store.commit([{ key, value: Buffer.from('x') }])
    await store.close()
    store = await openLmdbStore(directory)
    const found: string[] = []
    for await (const part of store.range('/registry/', '/registry0'))
      found.push(...part.map(each => each.key))
    assert.deepEqual(found, [key])
  })

  it('has one map while it grows', async () => {
    await fill(64, 100_000)
    const maps = (await readFile('/proc/self/maps', 'utf8')).split('\n')
    assert.equal(maps.filter(map => map.endsWith(join(directory, fileName))).length, 1)
  })
})
