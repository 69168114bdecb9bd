import assert from 'node:assert/strict'
import { put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { openEtcdStore } from './etcd.ts'
import type { SharedStore } from './sharedstore.ts'

/** More than etcd sends to a reader that does not read. */
const changes = Array.from({ length: 200 }, (_, i) => [put('large', String(i % 10).repeat(200_000))])

if (etcdProgram() === undefined) notRun('compaction of etcd while a server is behind', noEtcd)
else
  describe('compaction of etcd while a server is behind', () => {
    let etcd: Etcd
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())

    const open = (): Promise<SharedStore> =>
      openEtcdStore({ endpoints: [etcd.endpoint], prefix: '/behind', compactEvery: 0 })

    it('ends the server, also if its watch was open all the time: it has not read all changes', async () => {
      const [late, other] = [await open(), await open()]
      const watched = late.watch('', late.compacted, new AbortController().signal)
      await late.commit([put('small', '1')])
      await watched.next()
      for (const change of changes) await other.commit(change)
      await other.compact(other.revision)
      const missed = /etcd has compacted changes that this server has not read/
      await assert.rejects(async () => {
        for await (const _ of watched);
      }, missed)
      assert.match(String(await late.failed), missed)
      await Promise.all([late.close(), other.close()])
    })
  })
