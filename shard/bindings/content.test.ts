import assert from 'node:assert/strict'
import { testShard } from '../testing/shard.ts'
import { clusterContent } from './content.ts'

const megabyte = Buffer.alloc(1024 * 1024)

describe('the stored values of logical clusters', () => {
  it('are read in parts that fit into memory', async () => {
    const shard = await testShard()
    let read = 0
    const range = async function* () {
      for (; read < 500; read++) yield [{ key: `k${read}`, value: megabyte, created: 1, modified: 1 }]
    }
    const content = clusterContent({ ...shard.store, range } as typeof shard.store, shard.cache)
    const values = await content.values('a', 'z', 500)
    assert.ok(values.length > 0)
    assert.ok(read < 20, `${read} MiB were read`)
    await shard.stop()
  })
})
