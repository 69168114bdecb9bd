import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { copyOf } from '../peers/copying.ts'
import { testShard } from '../testing/shard.ts'
import { followSelections } from './selections.ts'

const published: KubeObject = {
  apiVersion: 'cache.kcp.io/v1alpha1',
  kind: 'ClusterCachedResource',
  metadata: { name: 'regions', uid: 'u-1' },
  spec: { group: 'example.com', version: 'v1', resource: 'regions' },
  status: { identityHash: 'a', conditions: [{ type: 'ResourceValid', status: 'True' }] },
} as KubeObject

describe('selections of published objects', () => {
  it('are not replaced or ended by a copy of another shard with the same uid', async () => {
    const shard = await testShard()
    const resource = resources.clusterCachedResources
    const selections = followSelections(shard.informers.for(resource))
    const keyIn = (cluster: string) =>
      storageKey(storedResourceOf(resource), { cluster, namespace: '', name: 'regions' })
    const clusters = (): readonly string[] =>
      ['here', 'there'].filter(cluster => selections.in('a', cluster).length === 1)
    await shard.content.transfer([{ key: keyIn('here'), value: encodeStored(published) }])
    const copy = encodeStored(copyOf(published, 'beta'))
    await shard.content.transfer([{ key: keyIn('there'), value: copy }])
    assert.deepEqual(clusters(), ['here', 'there'])
    await shard.content.transfer([{ key: keyIn('there'), value: undefined }])
    assert.deepEqual(clusters(), ['here'])
    await shard.stop()
  })
})
