import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { openDurableStore } from './lmdb.ts'
import { Compacted } from './store.ts'

describe('a durable store of a server', () => {
  const value = Buffer.from('1')
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-store-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('refuses watches of a store that was in its directory and was deleted', async () => {
    const before = await openDurableStore(directory)
    const seen = await before.commit([{ key: 'a', value }])
    await before.close()
    await rm(directory, { recursive: true })
    const closed = Date.now()
    while (Date.now() === closed) await setImmediate()
    const after = await openDurableStore(directory)
    for (const key of ['b', 'c']) await after.commit([{ key, value }])
    const events = after.watch('', seen, AbortSignal.timeout(10_000))
    await assert.rejects(async () => {
      for await (const _ of events) return
    }, Compacted)
    await after.close()
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
