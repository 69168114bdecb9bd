import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { deserialize, serialize } from 'node:v8'
import { storeContract } from '../../../test/contract/store/contract.suite.ts'
import { events, put } from '../../../test/contract/store/opened.ts'
import { openMemoryStore } from '../memory.ts'
import type { Store } from '../store.ts'
import type { StoreAnswered, StoreAsked, StoreLine } from './messages.ts'
import { openRelayedStore } from './relayedstore.ts'
import { serveStore } from './storeserver.ts'

/** Both ends of a line in one process. Messages are serialized as between processes (`serialization: 'advanced'`). */
function linePair() {
  const cut = new AbortController()
  const [toStore, fromStore] = [new EventEmitter(), new EventEmitter()]
  const end = <Sent, Received>(to: EventEmitter, from: EventEmitter): StoreLine<Sent, Received> => ({
    send: message => {
      const bytes = serialize(message)
      setImmediate(() => cut.signal.aborted || to.emit('message', buffered(deserialize(bytes))))
    },
    receive: handler => void from.on('message', handler),
    closed: cut.signal,
  })
  return {
    asking: end<StoreAsked, StoreAnswered>(toStore, fromStore),
    answering: end<StoreAnswered, StoreAsked>(fromStore, toStore),
    cut: () => cut.abort(),
  }
}

/** `v8.deserialize` returns Buffers as Uint8Array; processes get Buffers. */
function buffered(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (Array.isArray(value)) return value.map(buffered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, buffered(each)]))
}

async function relayed(store: Store) {
  const { asking, answering, cut } = linePair()
  serveStore(store, answering)
  return { store: await openRelayedStore(asking), cut }
}

storeContract(
  'relayed',
  async () => {
    const inside = openMemoryStore()
    const { store, cut } = await relayed(inside)
    return {
      store,
      async close() {
        await store.close()
        cut()
        await inside.close()
      },
    }
  },
  'many',
)

describe('a store of another process', () => {
  let inside: Store
  let first: Awaited<ReturnType<typeof relayed>>
  let second: Awaited<ReturnType<typeof relayed>>
  beforeEach(async () => {
    inside = openMemoryStore()
    first = await relayed(inside)
    second = await relayed(inside)
  })
  afterEach(() => inside.close())

  it('has one history for all', async () => {
    const opened = { store: second.store, base: 0, close: () => Promise.resolve() }
    const seen = events(opened, '', 0, 2)
    const revision = await first.store.commit([put('a', '1', 0)])
    await assert.rejects(second.store.commit([put('a', '2', 0)]), { name: 'StoreConflict', key: 'a' })
    assert.equal(await second.store.latest(), revision)
    await second.store.commit([put('a', '2', revision)])
    assert.deepEqual(await seen, ['1 a ->1', '2 a 1>2'])
  })

  it('fails when the other process ends, with all that waits for it', async () => {
    const watched = first.store.watch('', 0, new AbortController().signal).next()
    const reading = first.store.get('a')
    first.cut()
    const ended = /the process that has opened the store has ended/
    await assert.rejects(reading, ended)
    await assert.rejects(watched, ended)
    await assert.rejects(first.store.latest(), ended)
    assert.match((await first.store.failed).message, ended)
  })

  it('ends the watches of a process that has ended, and serves the others', async () => {
    const watched = first.store.watch('', 0, new AbortController().signal).next()
    watched.catch(() => undefined)
    first.cut()
    await second.store.commit([put('a', '1', 0)])
    assert.equal((await second.store.get('a'))?.value.toString(), '1')
  })
})
