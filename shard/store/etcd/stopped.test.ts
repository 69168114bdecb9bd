import assert from 'node:assert/strict'
import { del, put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { etcdProgram, noEtcd } from '../../../test/support/servers/etcd.ts'
import { gatedEtcd } from '../../../test/support/servers/gatedetcd.ts'
import { openEtcdStore } from './etcd.ts'
import type { SharedStore } from './sharedstore.ts'

if (etcdProgram() === undefined) notRun('etcd that was restored while a server stood still', noEtcd)
else
  describe('etcd that was restored while a server stood still, and in which another server wrote as much', () => {
    const at = gatedEtcd()
    const opened: SharedStore[] = []
    let prefixes = 0
    beforeEach(() => {
      prefixes++
    })
    afterEach(async () => {
      at().gate.heal()
      for (const store of opened.splice(0)) await store.close()
    })

    async function open(endpoint: string): Promise<SharedStore> {
      const prefix = `/stopped${prefixes}`
      const store = await openEtcdStore({ endpoints: [endpoint], prefix, compactEvery: 0, patience: 3_000 })
      opened.push(store)
      return store
    }

    /** A server that has seen the commits that `write` makes, which etcd loses; `write` gets this server and another one. */
    async function lose(
      write: (own: SharedStore, other: SharedStore) => Promise<number>,
    ): Promise<{ store: SharedStore; next: Promise<unknown> }> {
      const [store, other] = [await open(at().endpoint), await open(at().etcd.endpoint)]
      await store.commit([put('/kept', '1')])
      await at().etcd.save()
      const watched = store.watch('', store.revision, AbortSignal.timeout(30_000))
      const last = await write(store, other)
      for (let revision = 0; revision < last; ) revision = (await watched.next()).value.at(-1).revision
      at().gate.sever()
      await at().etcd.goBack()
      const unaware = await open(at().etcd.endpoint)
      for (let i = 0; unaware.revision <= last; i++) await unaware.commit([put(`/new${i}`, '1')])
      return { store, next: watched.next() }
    }

    async function endsAfter(write: Parameters<typeof lose>[0]): Promise<void> {
      const { store, next } = await lose(write)
      const refused = assert.rejects(
        next,
        /^Error: etcd was restored or replaced while the server was running/,
      )
      at().gate.heal()
      await refused
      assert.match((await store.failed).message, /Start the server again/)
    }

    it('ends the server that made the lost commits', () =>
      endsAfter(async own => {
        await own.commit([put('/gone1', '1')])
        return own.commit([put('/gone2', '1')])
      }))

    it('ends a server that has only watched the lost commits', () =>
      endsAfter(async (_, other) => {
        await other.commit([put('/gone1', '1')])
        return other.commit([put('/gone2', '1')])
      }))

    it('ends a server whose last change was a deletion', () =>
      endsAfter(async (_, other) => {
        const created = await other.commit([put('/gone1', '1')])
        return other.commit([del('/gone1', created)])
      }))
  })
