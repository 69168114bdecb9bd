import assert from 'node:assert/strict'
import { notRun } from '../../../test/support/notrun.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { Compacted, type StoreEvent } from '../store.ts'
import { openEtcdStore } from './etcd.ts'
import { HistoryMarks } from './historymarks.ts'

describe('the history of etcd', () => {
  it('is cut when its bytes are too many, a part at a time', () => {
    const marks = new HistoryMarks(400)
    const cuts = Array.from({ length: 12 }, (_, i) => marks.add(i + 1, 50))
    assert.deepEqual(cuts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4])
  })

  it('counts each change once, however many watches see it', () => {
    const marks = new HistoryMarks(400)
    for (let i = 0; i < 20; i++) assert.equal(marks.add(1, 100), 0)
  })
})

const limit = 400_000

if (etcdProgram() === undefined) notRun('the bytes of the history of etcd', noEtcd)
else
  describe('a store in etcd', () => {
    it('compacts the changes of a tenant who rewrites large objects', async () => {
      const etcd = await startEtcd()
      const compactEvery = 3_600_000
      const options = { endpoints: [etcd.endpoint], prefix: '/history', compactEvery, mostHistory: limit }
      const store = await openEtcdStore(options)
      const stop = new AbortController()
      const seen = (async () => {
        for await (const _ of store.watch('', store.revision, stop.signal));
      })()
      try {
        const before = store.revision
        const value = Buffer.alloc(50_000, '.')
        for (let i = 0; i < 30; i++) await store.commit([{ key: 'a', value }])
        await eventually(
          async () => store.compacted,
          compacted => compacted > before,
        )
        assert.equal((await store.get('a'))?.value.length, value.length)
      } finally {
        stop.abort()
        await seen
        await store.close()
        await etcd.stop()
      }
    })

    it('reads its newest changes at the start, because etcd sends earlier ones slowly', async () => {
      const etcd = await startEtcd()
      const options = { endpoints: [etcd.endpoint], prefix: '/newest', compactEvery: 0 }
      const writer = await openEtcdStore(options)
      for (let i = 1; i <= 8; i++) await writer.commit([{ key: 'a', value: Buffer.from(String(i)) }])
      const store = await openEtcdStore({ ...options, mostRevisions: 3 })
      try {
        const values = (await store.range('', '~', { revision: store.compacted }).next()).value
        assert.equal(String(values?.[0]?.value), '5')
        const changes = (await store.watch('', store.compacted, AbortSignal.timeout(10_000)).next()).value
        assert.deepEqual(
          changes?.map(({ value }: StoreEvent) => String(value?.value)),
          ['6', '7', '8'],
        )
        await assert.rejects(
          store.watch('', store.compacted - 1, new AbortController().signal).next(),
          Compacted,
        )
        assert.equal(
          (await writer.watch('', writer.compacted, AbortSignal.timeout(10_000)).next()).done,
          false,
        )
      } finally {
        await store.close()
        await writer.close()
        await etcd.stop()
      }
    })
  })
