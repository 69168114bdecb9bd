import assert from 'node:assert/strict'
import { originAnnotation } from '../../framework/contract/item.ts'
import { incomingAnnotation, leavingAnnotation, migratingAnnotation } from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const ref = resources.logicalClusters

describe('logical clusters of a shard among others', () => {
  let shard: TestShard
  before(async () => {
    shard = await testShard({ peers: new Map() })
  })
  after(() => shard.stop())

  async function put(cluster: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    const key = storageKey(storedResourceOf(ref), { cluster, namespace: '', name: 'cluster' })
    const metadata = { name: 'cluster', annotations }
    const value = encodeStored({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata })
    await shard.content.transfer([{ key, value }])
  }

  async function listed(): Promise<readonly string[]> {
    const all = shard.backend.apis('*')?.find(ref.group, ref.version, ref.resource)
    assert.ok(all)
    const list = all.storage.list(shard.context(ref, '*'), { cluster: '*' })
    const names: string[] = []
    for (let next = await list.next(); next.done !== true; next = await list.next())
      for (const { key } of next.value) names.push(key.cluster)
    return names
  }

  it('are those that it has, or will have', async () => {
    const moving = { [migratingAnnotation]: 'root:move' }
    await put('own', {})
    await put('other', { [originAnnotation]: 'beta' })
    await put('closed', moving)
    await put('arriving', { ...moving, [incomingAnnotation]: 'beta,7' })
    await put('leaving', { ...moving, [leavingAnnotation]: 'beta' })
    const known = ['own', 'other', 'closed', 'arriving', 'leaving']
    assert.deepEqual(
      (await listed()).filter(name => known.includes(name)),
      ['arriving', 'closed', 'own'],
    )
  })
})
