import assert from 'node:assert/strict'
import { put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { Compacted } from '../store.ts'
import { openEtcdStore } from './etcd.ts'
import type { Seen, SeenPlace } from './seen.ts'
import type { SharedStore } from './sharedstore.ts'

/** The data directory of a server. */
const place = (): SeenPlace => {
  let kept: Seen | undefined
  return {
    read: async () => kept,
    write: async seen => {
      kept = seen
    },
  }
}

if (etcdProgram() === undefined) notRun('restored etcd', noEtcd)
else
  describe('etcd that was restored to an earlier state of the same cluster', () => {
    let etcd: Etcd
    const opened: SharedStore[] = []
    beforeEach(async () => {
      etcd = await startEtcd()
    })
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
      await etcd.stop()
    })

    async function open(seen?: SeenPlace): Promise<SharedStore> {
      const options = { endpoints: [etcd.endpoint], prefix: '/oriel', compactEvery: 0 }
      const store = await openEtcdStore({ ...options, ...(seen && { seen }) })
      opened.push(store)
      return store
    }

    /** A store that was closed after commits that a later restore of etcd removes; returns its revision. */
    async function lose(seen: SeenPlace): Promise<number> {
      const store = await open(seen)
      await store.commit([put('/a', 'kept')])
      await etcd.save()
      for (let i = 0; i < 5; i++) await store.commit([put('/a', `lost ${i}`)])
      await store.close()
      await etcd.goBack()
      return store.revision
    }

    it('is noticed by a server that has seen later commits', async () => {
      const seen = place()
      const last = await lose(seen)
      const store = await open(seen)
      assert.equal((await store.get('/a'))?.value.toString(), 'kept')
      assert.ok(store.compacted > last, `compacted up to ${store.compacted} after ${last}`)
      await assert.rejects(store.watch('', last, AbortSignal.timeout(5_000)).next(), Compacted)
    })

    it('is noticed when its revision is as high again', async () => {
      const seen = place()
      const last = await lose(seen)
      const unaware = await open()
      while (unaware.revision <= last) await unaware.commit([put('/b', 'other')])
      const store = await open(seen)
      assert.ok(store.compacted > unaware.revision)
    })

    it('ends the servers that do not know it, before they answer or write', async () => {
      const seen = place()
      await lose(seen)
      const [reading, writing] = [await open(), await open()]
      await open(seen)
      const why = /^Error: etcd was restored or replaced while the server was running/
      await assert.rejects(reading.latest(), why)
      await assert.rejects(writing.commit([put('/b', '1')]), why)
      assert.match((await reading.failed).message, /Start the server again/)
      assert.match((await writing.failed).message, /Start the server again/)
    })

    it('is not suspected after an ordinary start', async () => {
      const seen = place()
      const first = await open(seen)
      await first.commit([put('/a', '1')])
      await eventually(
        async () => (await seen.read())?.revision ?? 0,
        revision => revision === first.revision,
      )
      await first.compact(first.revision)
      await etcd.restart()
      const second = await open(seen)
      assert.equal(second.revision, first.revision)
      const other = await open()
      await other.commit([put('/a', '2')])
      await second.close()
      assert.equal((await open(seen)).revision, other.revision)
    })
  })
