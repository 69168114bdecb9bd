import assert from 'node:assert/strict'
import { put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { type Gate, openGate } from '../../../test/support/servers/gate.ts'
import type { Store } from '../store.ts'
import { openEtcdStore } from './etcd.ts'

/** Milliseconds: less than it takes gRPC to find out that a connection is dead. */
const soon = 7_000

if (etcdProgram() === undefined) notRun('a member of etcd that stops answering', noEtcd)
else
  describe('a member of etcd that stops answering, while its connections stay open', () => {
    let etcd: Etcd
    let gates: readonly Gate[]
    let stores: readonly Store[]
    before(async () => {
      etcd = await startEtcd()
      const port = Number(etcd.endpoint.split(':')[1])
      gates = await Promise.all([openGate(port), openGate(port)])
      const through = gates.map(gate => `127.0.0.1:${gate.port}`)
      const open = (endpoints: readonly string[]) =>
        openEtcdStore({ endpoints, prefix: '/test', compactEvery: 0, patience: 3_000 })
      stores = await Promise.all([open(through), open([etcd.endpoint])])
    })
    after(async () => {
      for (const gate of gates) gate.heal()
      await Promise.all(stores.map(store => store.close()))
      await Promise.all(gates.map(gate => gate.close()))
      await etcd.stop()
    })

    it('is left by watches as soon as by calls, so that readers do not wait for changes', async () => {
      const [store, other] = stores as readonly [Store, Store]
      const stop = new AbortController()
      const watched = store.watch('', store.revision, stop.signal)
      const first = watched.next()
      await other.commit([put('a', '1')])
      assert.equal((await first).value?.[0]?.key, 'a')
      const second = watched.next()
      gates[0]?.sever()
      const revision = await other.commit([put('b', '1')])
      assert.equal(await store.latest(), revision)
      const timeout = new Promise(resolve => setTimeout(resolve, soon, 'not seen'))
      const seen = second.then(({ value }) => value?.[0]?.key)
      assert.equal(await Promise.race([seen, timeout]), 'b')
      stop.abort()
    })
  })
