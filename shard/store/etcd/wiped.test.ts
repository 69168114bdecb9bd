import assert from 'node:assert/strict'
import { put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { etcdProgram, noEtcd } from '../../../test/support/servers/etcd.ts'
import { gatedEtcd } from '../../../test/support/servers/gatedetcd.ts'
import { openEtcdStore } from './etcd.ts'

const all = { key: Buffer.from('/').toString('base64'), range_end: Buffer.from('0').toString('base64') }

if (etcdProgram() === undefined) notRun('etcd that lost its data during a write', noEtcd)
else
  describe('etcd that lost its data during a write', () => {
    const at = gatedEtcd()

    it('gets no key of the installation that it had, also when the write is repeated', async () => {
      const options = { endpoints: [at().endpoint], prefix: '/oriel', compactEvery: 0 }
      const store = await openEtcdStore(options)
      at().gate.sever()
      const writing = store.commit([put('/a', '1')])
      const refused = assert.rejects(
        writing,
        /^Error: etcd was restored or replaced while the server was running/,
      )
      await at().etcd.wipe()
      at().gate.heal()
      await refused
      assert.match((await store.failed).message, /Start the server again/)
      assert.equal((await at().etcd.post('kv/range', all)).kvs, undefined)
      await store.close()
      const next = await openEtcdStore(options)
      assert.notEqual(next.installation, store.installation)
      await next.close()
    })

    it('takes no write for the next installation, whose record has the same revision', async () => {
      const options = { endpoints: [at().etcd.endpoint], prefix: '/oriel', compactEvery: 0 }
      await at().etcd.wipe()
      const store = await openEtcdStore(options)
      await at().etcd.wipe()
      const next = await openEtcdStore(options)
      assert.equal(next.compacted, store.compacted)
      await assert.rejects(store.commit([put('/a', '1', 0)]), /^Error: etcd was restored or replaced/)
      await assert.rejects(store.latest(), /^Error: etcd was restored or replaced/)
      assert.equal(await next.get('/a'), undefined)
      for (const each of [store, next]) await each.close()
    })
  })
