import assert from 'node:assert/strict'
import { del, put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { type Gate, openGate } from '../../../test/support/servers/gate.ts'
import { openEtcdStore } from './etcd.ts'
import type { SharedStore } from './sharedstore.ts'

/** Bytes: a response of etcd has more, other frames of HTTP/2 have less. */
const response = 60

if (etcdProgram() === undefined) notRun('repeated requests to etcd', noEtcd)
else
  describe('requests that reach etcd late, after they were repeated', () => {
    let etcd: Etcd
    let gate: Gate
    let store: SharedStore
    let prefixes = 0
    before(async () => {
      etcd = await startEtcd()
      gate = await openGate(Number(etcd.endpoint.split(':')[1]))
    })
    after(async () => {
      await gate.close()
      await etcd.stop()
    })
    beforeEach(async () => {
      const endpoints = [`127.0.0.1:${gate.port}`, etcd.endpoint]
      store = await openEtcdStore({ endpoints, prefix: `/late${++prefixes}`, compactEvery: 0 })
    })
    afterEach(async () => {
      gate.releaseRequests('all')
      await store.close()
    })

    /** Executes the first attempt at last, and waits for its response. */
    async function arrive(): Promise<void> {
      const before = gate.passed
      const passed = async (): Promise<number> => {
        gate.releaseRequests()
        return gate.passed - before
      }
      await eventually(passed, bytes => bytes > response)
    }

    it('do not create an object again that was deleted meanwhile', async () => {
      gate.holdRequests()
      const created = await store.commit([put('a', '1', 0)])
      await store.commit([del('a', created)])
      await arrive()
      await store.latest()
      assert.equal(await store.get('a'), undefined)
    })

    it('do not write a value again that was overwritten meanwhile', async () => {
      gate.holdRequests()
      await store.commit([put('a', '1')])
      await store.commit([put('a', '2')])
      await arrive()
      await store.latest()
      assert.equal((await store.get('a'))?.value.toString(), '2')
    })

    it('have an unknown outcome when another writer was faster than the second attempt, so that nobody writes again', async () => {
      const other = await openEtcdStore({
        ...{ endpoints: [etcd.endpoint], prefix: `/late${prefixes}`, compactEvery: 0 },
      })
      const created = await store.commit([put('a', '1')])
      const valueNow = async () => {
        await other.latest()
        return (await other.get('a'))?.value.toString()
      }
      gate.hold()
      const refused = assert.rejects(store.commit([put('a', '2', created)]), { code: 504, reason: 'Timeout' })
      await eventually(valueNow, value => value === '2')
      await other.commit([put('a', '3')])
      await refused
      assert.equal(await valueNow(), '3')
      gate.release()
      await assert.rejects(store.commit([put('a', '4', created)]), { name: 'StoreConflict' })
      await other.close()
    })

    it('are counted once when both attempts arrive', async () => {
      gate.hold()
      const created = await store.commit([put('a', '1', 0)])
      assert.equal((await store.get('a'))?.modified, created)
      gate.release()
      await assert.rejects(store.commit([put('a', '2', 0)]), { name: 'StoreConflict' })
    })
  })
