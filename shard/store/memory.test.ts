import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { storeContract } from '../../test/contract/store/contract.suite.ts'
import { openMemoryStore, openTemporaryStore } from './memory.ts'
import { Compacted } from './store.ts'

storeContract('memory', async () => {
  const store = openMemoryStore()
  return { store, close: () => store.close() }
})

storeContract('temporary', async () => {
  const store = openTemporaryStore()
  return { store, close: () => store.close() }
})

describe('a temporary store', () => {
  const value = Buffer.from('1')

  it('refuses watches of the store of a process before it', async () => {
    const before = openTemporaryStore()
    const seen = await before.commit([{ key: 'a', value }])
    await before.close()
    const closed = Date.now()
    while (Date.now() === closed) await setImmediate()
    const after = openTemporaryStore()
    for (const key of ['b', 'c']) await after.commit([{ key, value }])
    const events = after.watch('', seen, AbortSignal.timeout(10_000))
    await assert.rejects(async () => {
      for await (const _ of events) return
    }, Compacted)
    await after.close()
  })
})
