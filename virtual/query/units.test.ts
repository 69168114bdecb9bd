import assert from 'node:assert/strict'
import { Units } from './units.ts'

describe('the logical clusters whose permissions decide about a query', () => {
  it('are found by decoding each binding once', async () => {
    let decoded = 0
    const bindings = ['a', 'b', 'a'].map(apiExportClusterName => ({
      get object() {
        decoded++
        return { status: { apiExportClusterName } }
      },
    }))
    const owner = { object: { spec: { owner: { cluster: 'parent', name: 'mine' } } } }
    const informers = { for: () => ({ list: () => bindings, get: () => owner }) }
    const units = new Units({ informers } as never, {} as never)
    for (let i = 0; i < 2; i++) assert.deepEqual(await units.decidedIn('own'), ['own', 'parent', 'a', 'b'])
    assert.equal(decoded, 3)
  })
})
