import assert from 'node:assert/strict'
import type { WatchCache } from '../../cache/contract.ts'
import type { ControllerClient } from '../client.ts'
import { ForeignOwners } from './foreignowners.ts'

const count = 500

/** Objects that take a tenth of a millisecond each, and how many were read at most in one turn of the event loop. */
function slowObjects() {
  let [inTurn, most] = [0, 0]
  function* items() {
    for (let i = 0; i < count; i++) {
      if (inTurn++ === 0)
        setImmediate(() => {
          inTurn = 0
        })
      most = Math.max(most, inTurn)
      for (const end = performance.now() + 0.1; performance.now() < end; );
      yield { namespace: 'b', uid: `${i}` }
    }
  }
  return { cache: { resources: () => [{ items }] } as unknown as WatchCache, most: () => most }
}

describe('owners in another namespace', () => {
  it('are looked for among all objects, between the turns of other requests', async () => {
    const { cache, most } = slowObjects()
    const created: unknown[] = []
    const client = { create: async (...event: unknown[]) => created.push(event) }
    const owners = new ForeignOwners({ cache, client: client as unknown as ControllerClient })
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'stray', namespace: 'a' } }
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' }
    const report = (uid: string) => owners.report('c', object, [{ ...owner, uid }])
    await Promise.all([report('none'), report(`${count - 1}`)])
    assert.equal(created.length, 1)
    assert.ok(most() <= count / 2, `${most()} objects in a turn`)
  })
})
