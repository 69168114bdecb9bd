import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { bindIn, resourceSchema, storageVersion, widgets } from '../testing/bindings.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { SlowAdmission } from '../testing/slowadmission.ts'

const cluster = 'c1'
const group = 'example.com'
const ref = { group, version: 'v1', resource: 'things' }
const key = { cluster, namespace: '', name: `things.${group}` }
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: key.name },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural: 'things', kind: 'Thing' } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const thing: KubeObject = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } }

describe('a custom resource whose definition is deleted while it is admitted', () => {
  let shard: TestShard
  const stop = new AbortController()
  const slow = new SlowAdmission(['things', 'widgets'])
  const storage = () => shard.backend.apis(cluster)?.find(group, 'v1', 'things')?.storage
  before(async () => {
    shard = await testShard({ admission: () => [slow.plugin] })
    await shard.addCluster(cluster)
    void shard.run(stop.signal)
    await shard.client.create(resources.crds, key, definition)
    await until(storage)
  })
  after(async () => {
    stop.abort()
    await shard.stop()
  })

  it('is not created: it would be an object of a later definition of the same name', async () => {
    const options = { dryRun: false, fieldManager: 'test' }
    const place = { ...key, name: 'a' }
    const creating = storage()?.create(shard.context(ref, cluster), place, thing, options)
    const refused = assert.rejects(creating ?? Promise.resolve(), {
      code: 403,
      message:
        'things.example.com "a" is forbidden: create not allowed while custom resource definition is terminating',
    })
    await slow.holds()
    await shard.client.delete(resources.crds, key)
    const definitions = shard.informers.for(resources.crds)
    await until(() => definitions.get(cluster, '', key.name) === undefined || undefined)
    slow.goOn()
    await refused
    await shard.client.create(resources.crds, key, definition)
    await until(storage)
    assert.deepEqual(await shard.client.list(ref, cluster), [])
  })

  it('is not created when its binding is deleted meanwhile', async () => {
    const schema = resourceSchema('v1.widgets.example.com', [storageVersion('v1')])
    const created = await shard.client.create(
      resources.apiResourceSchemas,
      { cluster: 'provider', namespace: '', name: 'v1.widgets.example.com' },
      schema,
    )
    await bindIn(shard, cluster, created)
    const bound = () => shard.backend.apis(cluster)?.find(group, 'v1', 'widgets')?.storage
    await until(bound)
    const options = { dryRun: false, fieldManager: 'test' }
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }
    const creating = bound()?.create(shard.context(widgets, cluster), { ...key, name: 'a' }, widget, options)
    const refused = assert.rejects(creating ?? Promise.resolve(), { code: 403 })
    await slow.holds()
    const bindings = shard.informers.for(resources.apiBindings)
    for (const { key } of bindings.list(cluster)) await shard.client.delete(resources.apiBindings, key)
    slow.goOn()
    await refused
  })
})
