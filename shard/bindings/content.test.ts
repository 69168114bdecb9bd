import assert from 'node:assert/strict'
import { claimLabelPrefix } from '../../kcp/labels.ts'
import { resources } from '../../kcp/resources.ts'
import { decodeStored } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { testShard } from '../testing/shard.ts'
import { clusterContent, replacementOf } from './content.ts'

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

  it('are replaced without what is only presented', async () => {
    const { client, content, stop } = await testShard()
    const key = { cluster: 'c', namespace: '', name: 'n' }
    await client.create(resources.namespaces, key, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'n' },
    })
    const resource = storedResourceOf(resources.namespaces)
    const stored = content.get(resource, key)
    assert.ok(stored)
    const { object } = stored.item
    const labels = { ...object.metadata.labels, [`${claimLabelPrefix}x`]: 'y', kept: 'yes' }
    const { value } = replacementOf(stored, { ...object, metadata: { ...object.metadata, labels } })
    const { metadata } = JSON.parse(decodeStored(value as Buffer).bytes.toString())
    assert.deepEqual(metadata.labels, { ...object.metadata.labels, kept: 'yes' })
    await stop()
  })
})
