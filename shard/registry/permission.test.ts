import assert from 'node:assert/strict'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { forbidden } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { RegistryPlugin } from '../admission/chain.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const configMaps: ResourceRef = { group: '', version: 'v1', resource: 'configmaps' }
const key = { cluster: 'c1', namespace: 'default', name: 'a' }
const options = { dryRun: false, fieldManager: 'test' }
const configMap = (metadata: object, data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  data,
})

/** Refuses all grants. */
const guard: RegistryPlugin = {
  name: 'guard',
  async permit(_, { object, resource }) {
    const grants = (object?.data as { grants?: string } | undefined)?.grants
    if (resource === 'configmaps' && grants !== undefined)
      throw forbidden({ group: '', resource, name: 'a' }, 'not held')
  },
}

describe('permission to grant', () => {
  let shard: TestShard
  const storage = () => shard.backend.storage(configMaps)
  const ctx = () => shard.context(configMaps, 'c1')
  const refused = { code: 403, message: 'configmaps "a" is forbidden: not held' }
  before(async () => {
    shard = await testShard({ admission: () => [guard] })
    await shard.client.create(
      { ...configMaps, resource: 'namespaces' },
      { ...key, namespace: '', name: 'default' },
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default' },
      },
    )
    await storage().create(ctx(), key, configMap({}, {}), options)
  })
  after(() => shard.stop())

  it('is checked before the resourceVersion', async () => {
    const update = (data: object) =>
      storage().update(ctx(), key, () => configMap({ resourceVersion: '1' }, data), options)
    await assert.rejects(update({ grants: 'all' }), refused)
    await assert.rejects(update({}), { code: 409 })
  })

  it('is refused before the object is validated', async () => {
    const create = (data: object) => {
      const object = configMap({ name: 'b', labels: { 'a b': '' } }, data)
      return storage().create(ctx(), { ...key, name: 'b' }, object, options)
    }
    await assert.rejects(create({ grants: 'all' }), refused)
    await assert.rejects(create({}), { code: 422 })
  })
})
