import assert from 'node:assert/strict'
import { testShard } from './testing/shard.ts'

describe('the storages of a shard', () => {
  it('are remembered, but not for every identity that a tenant makes', async () => {
    const shard = await testShard()
    const storageOf = (identity: string) =>
      shard.backend.storage({ group: 'example.com', version: 'v1', resource: 'things', identity })
    const first = storageOf('first')
    assert.equal(storageOf('first'), first)
    for (let i = 0; i < 10_000; i++) storageOf(`identity${i}`)
    assert.notEqual(storageOf('first'), first)
    await shard.stop()
  })
})
