import assert from 'node:assert/strict'
import { clientOf } from '../../support/client.ts'
import { discard, type Oriel, startOriel } from '../../support/oriel.ts'
import { configAt } from '../../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'

describe('kept connections', function () {
  this.timeout(60_000)
  let oriel: Oriel
  before(async () => {
    oriel = await startOriel({ args: ['--store', 'memory:'] })
  })
  after(() => discard(oriel))

  // The server must be another process, so that its responses are read while it waits for the write to complete.
  it('carry large objects there and back, one after the other', async () => {
    const client = await clientOf(configAt(oriel, oriel.url))
    for (let i = 0; i < 100; i++) {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `large-${i}` },
        data: { text: 'x'.repeat(60_000) },
      }
      assert.equal((await client(`${path}?dryRun=All`, { method: 'POST', body })).status, 201)
    }
    client.close()
  })
})
