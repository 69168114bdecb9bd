import assert from 'node:assert/strict'
import type { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { clusterContent } from '../bindings/content.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { SlowAdmission } from '../testing/slowadmission.ts'
import { deleteContent } from './remaining.ts'

const key = { cluster: 'c1', namespace: '', name: 'n' }
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }

describe('a request of a controller that has stopped for so long that another object has the name', () => {
  let shard: TestShard
  let slow: Record<'UPDATE' | 'DELETE', SlowAdmission>
  beforeEach(async () => {
    slow = {
      UPDATE: new SlowAdmission(['namespaces'], 'UPDATE'),
      DELETE: new SlowAdmission(['namespaces'], 'DELETE'),
    }
    shard = await testShard({ admission: () => [slow.UPDATE.plugin, slow.DELETE.plugin] })
    await shard.addCluster(key.cluster)
    await shard.client.create(resources.namespaces, key, namespace)
  })
  afterEach(() => shard.stop())

  /** Another server deletes the namespace, and a user creates it again. */
  async function replace(): Promise<KubeObject> {
    const content = clusterContent(shard.store, shard.cache)
    const found = content.get(storedResourceOf(resources.namespaces), key)
    assert.ok(found)
    await content.remove([found])
    return shard.client.create(resources.namespaces, key, namespace)
  }

  const current = async (): Promise<KubeObject | undefined> =>
    (await shard.client.list(resources.namespaces, key.cluster))[0]?.object

  it('does not change that one', async () => {
    const ref = { ...resources.namespaces, subresource: 'finalize' }
    const updating = shard.client.update(ref, key, object => ({ ...object, spec: { finalizers: [] } }))
    const refused = assert.rejects(updating, { code: 409, reason: 'Conflict' })
    await slow.UPDATE.holds()
    const created = await replace()
    slow.UPDATE.open()
    await refused
    assert.deepEqual(await current(), created)
  })

  it('does not delete that one as a part of what it has listed', async () => {
    const listed = await shard.client.list(resources.namespaces, key.cluster)
    slow.DELETE.open()
    const created = await replace()
    const client = { ...shard.client, list: async () => listed }
    const { failures } = await deleteContent(client, key.cluster, [resources.namespaces])
    assert.deepEqual(
      failures.map(error => (error as StatusError).reason),
      ['Conflict'],
    )
    assert.deepEqual(await current(), created)
  })

  it('does not delete that one', async () => {
    const refused = assert.rejects(shard.client.delete(resources.namespaces, key), {
      code: 409,
      reason: 'Conflict',
    })
    await slow.DELETE.holds()
    const created = await replace()
    slow.DELETE.open()
    await refused
    assert.deepEqual(await current(), created)
  })
})
