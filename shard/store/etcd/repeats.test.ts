import assert from 'node:assert/strict'
import { del, put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { eventually } from '../../../test/support/oriel.ts'
import { etcdProgram, noEtcd } from '../../../test/support/servers/etcd.ts'
import { gatedEtcd } from '../../../test/support/servers/gatedetcd.ts'
import type { StoreChange } from '../store.ts'
import { openEtcdStore } from './etcd.ts'
import type { SharedStore } from './sharedstore.ts'

/** Bytes: a response of etcd has more, other frames of HTTP/2 have less. */
const response = 60

if (etcdProgram() === undefined) notRun('repeated requests to etcd', noEtcd)
else
  describe('requests that reach etcd late, after they were repeated', () => {
    const at = gatedEtcd()
    let store: SharedStore
    let prefixes = 0
    beforeEach(async () => {
      prefixes++
      store = await openAt([at().endpoint, at().etcd.endpoint])
    })
    afterEach(async () => {
      at().gate.releaseRequests('all')
      at().gate.release()
      await store.close()
    })

    const openAt = (endpoints: readonly string[], patience?: number): Promise<SharedStore> =>
      openEtcdStore({
        endpoints,
        prefix: `/late${prefixes}`,
        compactEvery: 0,
        ...(patience !== undefined && { patience }),
      })

    /** Executes the first attempt at last, and waits for its response. */
    async function arrive(): Promise<void> {
      const before = at().gate.passed
      const passed = async (): Promise<number> => {
        at().gate.releaseRequests()
        return at().gate.passed - before
      }
      await eventually(passed, bytes => bytes > response)
    }

    it('do not create an object again that was deleted meanwhile', async () => {
      at().gate.holdRequests()
      const created = await store.commit([put('a', '1', 0)])
      await store.commit([del('a', created)])
      await arrive()
      await store.latest()
      assert.equal(await store.get('a'), undefined)
    })

    it('do not write a value again that was overwritten meanwhile', async () => {
      at().gate.holdRequests()
      await store.commit([put('a', '1')])
      await store.commit([put('a', '2')])
      await arrive()
      await store.latest()
      assert.equal((await store.get('a'))?.value.toString(), '2')
    })

    describe('and whose first attempt was made, after which another server', () => {
      let other: SharedStore
      beforeEach(async () => {
        other = await openAt([at().etcd.endpoint])
      })
      afterEach(() => other.close())

      async function valueNow(): Promise<string | undefined> {
        await other.latest()
        return (await other.get('a'))?.value.toString()
      }

      /** Makes a commit whose response is held, and then that of the other server. */
      async function overtake(
        changes: readonly StoreChange[],
        ...later: readonly StoreChange[]
      ): Promise<number> {
        at().gate.hold(`objects${changes.at(-1)?.key}`)
        const written = store.commit(changes)
        await eventually(valueNow, value => value === '2')
        await other.commit(later)
        return written
      }

      const more = Array.from({ length: 60 }, (_, i) => put(`more${i}`, '1'))

      it('replaced the object, are counted once', async () => {
        const created = await store.commit([put('a', '1')])
        const written = await overtake([put('a', '2', created)], put('a', '3'))
        assert.ok(written > created)
        assert.equal(await valueNow(), '3')
      })

      it('replaced the value of a write without a revision, are counted once', async () => {
        await overtake([put('a', '2')], put('a', '3'))
        assert.equal(await valueNow(), '3')
      })

      it('deleted the object, do not create it again', async () => {
        await overtake([put('a', '2', 0)], del('a'))
        assert.equal(await valueNow(), undefined)
      })

      it('replaced some of many objects, are counted once', async () => {
        const created = await store.commit([put('a', '1')])
        await overtake([put('a', '2', created), ...more], put('a', '3'), put('more0', '2'))
        assert.equal(await valueNow(), '3')
      })

      it('deleted some of many objects, do not create it again', async () => {
        await overtake([put('a', '2', 0), ...more], del('a'), put('more0', '2'))
        assert.equal(await valueNow(), undefined)
      })

      it('compacted the history, have an unknown outcome, so that nobody writes again', async () => {
        const hasty = await openAt([at().endpoint, at().etcd.endpoint], 2_000)
        const created = await hasty.commit([put('a', '1')])
        at().gate.hold()
        const refused = assert.rejects(hasty.commit([put('a', '2', created)]), {
          code: 504,
          reason: 'Timeout',
        })
        await eventually(valueNow, value => value === '2')
        await other.commit([put('a', '3')])
        await other.compact(other.revision)
        await refused
        assert.equal(await valueNow(), '3')
        at().gate.release()
        await hasty.close()
      })
    })

    it('are made once when the first attempt with many objects never arrived, and another server wrote meanwhile', async () => {
      const other = await openAt([at().etcd.endpoint])
      at().gate.holdRequests()
      const writing = store.commit(Array.from({ length: 61 }, (_, i) => put(`k${i}`, '1', 0)))
      const revision = await other.commit([put('b', '1')])
      assert.ok((await writing) > revision)
      assert.equal((await store.get('k0'))?.value.toString(), '1')
      await other.close()
    })

    it('are counted once when both attempts arrive', async () => {
      at().gate.hold()
      const created = await store.commit([put('a', '1', 0)])
      assert.equal((await store.get('a'))?.modified, created)
      at().gate.release()
      await assert.rejects(store.commit([put('a', '2', 0)]), { name: 'StoreConflict' })
    })
  })
