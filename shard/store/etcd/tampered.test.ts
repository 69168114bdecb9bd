import assert from 'node:assert/strict'
import { lengthDelimited, varintField, wireFields } from '../../../framework/wire/protobuf/wire.ts'
import { put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import {
  RefusedByEtcd,
  type TamperingEtcd,
  tamperingEtcd,
} from '../../../test/support/servers/tamperingetcd.ts'
import { StoreConflict } from '../store.ts'
import { openEtcdStore } from './etcd.ts'
import { decodeWatch, type WatchResponse } from './messages.ts'
import type { SharedStore } from './sharedstore.ts'

const header = (revision: number, cluster = 1): Buffer =>
  lengthDelimited(1, Buffer.concat([varintField(1, BigInt(cluster)), varintField(3, BigInt(revision))]))

/** A message without a field. */
const without = (message: Buffer, field: number): Buffer =>
  Buffer.concat(
    [...wireFields(message)]
      .filter(({ number }) => number !== field)
      .map(({ number, value }) =>
        typeof value === 'bigint' ? varintField(number, value) : lengthDelimited(number, value),
      ),
  )

/** An event of a key that was created. */
const created = (key: string, revision: number): Buffer => {
  const value = Buffer.concat([
    lengthDelimited(1, Buffer.from(key)),
    varintField(2, BigInt(revision)),
    varintField(3, BigInt(revision)),
  ])
  return lengthDelimited(11, lengthDelimited(2, value))
}

const endedWhy = /^Error: etcd was restored or replaced while the server was running/
const orderWhy = /^Error: etcd sent changes twice, or not in their order/

if (etcdProgram() === undefined) notRun('an etcd whose responses are wrong', noEtcd)
else
  describe('a store over an etcd whose responses are wrong', () => {
    let etcd: Etcd
    let proxy: TamperingEtcd
    let store: SharedStore
    let other: SharedStore
    let prefixes = 0
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())
    beforeEach(async () => {
      proxy = await tamperingEtcd(etcd.endpoint)
      const options = { prefix: `/tampered${++prefixes}`, compactEvery: 0, patience: 2_000 }
      store = await openEtcdStore({ ...options, endpoints: [proxy.endpoint] })
      other = await openEtcdStore({ ...options, endpoints: [etcd.endpoint] })
    })
    afterEach(async () => {
      for (const each of [store, other]) await each.close()
      proxy.close()
    })

    const keysOf = (events: readonly { readonly key: string }[]) => events.map(({ key }) => key)

    /** Changes the responses of the watch that have events. */
    const tamperEvents = (change: (response: Buffer, decoded: WatchResponse) => readonly Buffer[]): void =>
      proxy.tamper('Watch', response => {
        const decoded = decodeWatch(response)
        return decoded.events.length === 0 ? [response] : change(response, decoded)
      })

    /** The watch of the store, which has received a first commit. */
    async function following() {
      const watch = store.watch('', store.revision, AbortSignal.timeout(20_000))
      const first = watch.next()
      await other.commit([put('/first', '1')])
      assert.deepEqual(keysOf((await first).value), ['/first'])
      return watch
    }

    async function ends(failing: Promise<unknown>, why: RegExp): Promise<void> {
      await assert.rejects(failing, why)
      assert.match(String(await store.failed), why)
    }

    for (const text of ['raft proposal dropped', 'etcdserver: too many requests'])
      it(`repeats a write that a member refuses with "${text}"`, async () => {
        proxy.tamper('Txn', () => {
          proxy.tamper('Txn', undefined)
          throw new RefusedByEtcd(text)
        })
        const revision = await store.commit([put('/a', '1')])
        assert.equal((await store.get('/a'))?.modified, revision)
      })

    it('ends when events come twice', async () => {
      const watch = await following()
      tamperEvents(response => [response, response])
      await other.commit([put('/a', '1')])
      await watch.next()
      await ends(watch.next(), orderWhy)
    })

    it('ends when the events of a commit are missing', async () => {
      const watch = await following()
      let isFirst = true
      tamperEvents(response => {
        const passed = isFirst ? [] : [response]
        isFirst = false
        return passed
      })
      await other.commit([put('/a', '1')])
      await other.commit([put('/b', '1')])
      await ends(watch.next(), endedWhy)
    })

    it('ends when an earlier revision follows', async () => {
      const watch = await following()
      tamperEvents(() => [Buffer.concat([header(2), created(`/tampered${prefixes}/objects/a`, 2)])])
      await other.commit([put('/a', '1')])
      await ends(watch.next(), orderWhy)
    })

    it('shows no keys of another prefix', async () => {
      const watch = await following()
      tamperEvents((response, { header: { revision } }) => [
        Buffer.concat([response, created('/x/objects/x', revision), created('/tampered/x', revision)]),
      ])
      await other.commit([put('/a', '1')])
      assert.deepEqual(keysOf((await watch.next()).value), ['/a'])
    })

    it('ends when etcd has compacted what the watch has not received', async () => {
      const watch = await following()
      tamperEvents((_, { header: { revision } }) => [
        Buffer.concat([header(revision), varintField(4, 1n), varintField(5, BigInt(revision))]),
      ])
      await other.commit([put('/a', '1')])
      await ends(watch.next(), /^Error: etcd has compacted changes that this server has not read/)
    })

    it('receives all events once when watches are canceled', async () => {
      const watch = await following()
      let canceled = 0
      tamperEvents((response, { header: { revision } }) =>
        canceled++ < 2 ? [Buffer.concat([header(revision), varintField(4, 1n)])] : [response],
      )
      await other.commit([put('/a', '1')])
      await other.commit([put('/b', '1')])
      const seen: string[] = []
      while (seen.length < 2) seen.push(...keysOf((await watch.next()).value))
      assert.deepEqual(seen, ['/a', '/b'])
    })

    it('does not take the revision of a progress notification for that of events', async () => {
      const watch = await following()
      const { revision } = store
      tamperEvents((response, decoded) => [header(decoded.header.revision + 1_000), response])
      await other.commit([put('/a', '1')])
      assert.deepEqual(keysOf((await watch.next()).value), ['/a'])
      assert.equal(store.revision, other.revision)
      assert.ok(store.revision > revision)
    })

    it('ends when etcd is another cluster after a reconnection', async () => {
      const watch = await following()
      proxy.tamper('Range', response => [Buffer.concat([without(response, 1), header(1_000_000)])])
      tamperEvents((_, { header: { revision } }) => [Buffer.concat([header(revision), varintField(4, 1n)])])
      await other.commit([put('/a', '1')])
      await ends(watch.next(), endedWhy)
    })

    it('ends when the newest commit is an earlier one than before', async () => {
      let earlier: Buffer | undefined
      proxy.tamper('Range', response => {
        earlier ??= response
        return [earlier]
      })
      await store.latest()
      await store.commit([put('/a', '1')])
      await ends(store.latest(), endedWhy)
    })

    it('ends when the newest commit is another one than this server made', async () => {
      await store.commit([put('/a', '1')])
      proxy.tamper('Range', response => {
        const at = response.indexOf('/head')
        const changed = Buffer.from(response)
        const id = changed.indexOf('-', at)
        changed[id] = '_'.charCodeAt(0)
        return [changed]
      })
      await ends(store.latest(), endedWhy)
    })

    for (const [what, change] of [
      ['its header', (response: Buffer) => without(response, 1)],
      ['its result and its ranges', (response: Buffer) => without(without(response, 2), 3)],
      ['everything', () => Buffer.alloc(0)],
    ] as const)
      it(`ends when the answer to a transaction lacks ${what}`, async () => {
        await store.commit([put('/a', '1')])
        proxy.tamper('Txn', response => [change(response)])
        await ends(store.commit([put('/a', '2')]), endedWhy)
      })

    it('acknowledges what etcd has written, and refused because it is above the quota now', async () => {
      const full = new RefusedByEtcd('etcdserver: mvcc: database space exceeded')
      proxy.tamper('Txn', () => {
        throw full
      })
      const revision = await store.commit([put('/a', '1', 0)])
      assert.equal(await other.latest(), revision)
      assert.equal((await other.get('/a'))?.modified, revision)
      proxy.tamper('Txn', undefined)
      await assert.rejects(store.commit([put('/a', '2', 0)]), StoreConflict)
    })

    it('acknowledges a deletion that etcd has made, and refused because it is above the quota now', async () => {
      const expected = await store.commit([put('/a', '1', 0)])
      const full = new RefusedByEtcd('etcdserver: mvcc: database space exceeded')
      proxy.tamper('Txn', () => {
        proxy.tamper('Txn', undefined)
        throw full
      })
      const revision = await store.commit([{ key: '/a', value: undefined, expected }])
      assert.equal(await other.latest(), revision)
      assert.equal(await other.get('/a'), undefined)
    })

    it('fails when a range lacks everything', async () => {
      proxy.tamper('Range', () => [Buffer.alloc(0)])
      await ends(store.latest(), endedWhy)
    })
  })
