import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beginsNewEpoch } from '../../../test/contract/store/newepoch.suite.ts'
import { openDurableStore } from './lmdb.ts'

describe('a durable store of a server', () => {
  const value = Buffer.from('1')
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-store-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  beginsNewEpoch(
    'refuses watches of a store that was in its directory and was deleted',
    () => openDurableStore(directory),
    async () => {
      await rm(directory, { recursive: true })
      return openDurableStore(directory)
    },
  )

  it('has room on the disk for all of its lock, which is mapped: on a full disk the process would end', async () => {
    const store = await openDurableStore(directory)
    const { size, blocks } = await stat(join(directory, 'oriel.mdb-lock'))
    assert.ok(blocks * 512 >= size, `${size} bytes, ${blocks} blocks`)
    assert.deepEqual((await readdir(directory)).sort(), ['oriel.mdb', 'oriel.mdb-lock'])
    await store.close()
  })

  it('goes on with its revisions when it is opened again', async () => {
    const before = await openDurableStore(directory)
    const first = await before.commit([{ key: 'a', value }])
    await before.close()
    const after = await openDurableStore(directory)
    assert.equal(await after.commit([{ key: 'a', value }]), first + 1)
    await after.close()
  })
})
