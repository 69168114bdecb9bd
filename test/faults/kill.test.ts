import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'
import { killLoop, startWriter } from './kill.ts'

describe('kill -9 in a loop of writes', () => {
  it('loses no write, writes no commit in part, and keeps watches complete', async () => {
    await killLoop(4)
  })
})

describe('two processes and one store', () => {
  it('the second one fails until the first one has ended', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'oriel-two-'))
    const child = startWriter(directory, 1)
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    await assert.rejects(
      openLmdbStore(directory),
      new Error(`the store in ${directory} is in use by process ${child.pid}: only one process may open it`),
    )
    child.kill('SIGKILL')
    await exited
    const store = await openLmdbStore(directory)
    assert.ok(store.revision >= 0)
    await store.close()
    await rm(directory, { recursive: true })
  })
})
