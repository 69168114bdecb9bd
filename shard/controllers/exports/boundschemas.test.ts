import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { APIExport } from '../../../kcp/apis.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { asCrd, conditionOf } from '../../registry/crd.ts'
import { bindIn, resourceSchema, storageVersion } from '../../testing/bindings.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'
import { clusterScoped } from '../client.ts'
import { namingStatus, takenNames } from '../kubernetes/naming.ts'
import { boundSchemaController, keepSchemas } from './boundschemas.ts'

const exported: APIExport = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets' },
  spec: { resources: [{ name: 'widgets', group: 'example.com', schema: 'v1.widgets.example.com' }] },
}

describe('copies of bound schemas', () => {
  let shard: TestShard
  let schema: KubeObject
  const keep = () => keepSchemas(shard, { cluster: 'provider', object: exported })
  const copies = () => shard.informers.for(resources.crds).list(boundCRDsCluster)
  const isServed = (by: TestShard = shard) =>
    by.backend.apis('c1')?.find('example.com', 'v1', 'widgets') !== undefined
  const forget = () => shard.client.delete(resources.apiResourceSchemas, at(schema))
  const at = ({ metadata: { name = '' } }: KubeObject) => clusterScoped('provider', name)

  beforeEach(async () => {
    shard = await testShard()
    await shard.addCluster('c1')
    const wanted = resourceSchema('v1.widgets.example.com', [storageVersion('v1')])
    schema = await shard.client.create(resources.apiResourceSchemas, at(wanted), {
      ...wanted,
      spec: { ...(wanted.spec as object), nameValidation: 'PathSegmentName' },
    })
    await keep()
    await bindIn(shard, 'c1', schema)
  })
  afterEach(() => shard.stop())

  it('are definitions named by the uid, one for each schema', async () => {
    await Promise.all([keep(), keep()])
    const [copy, ...others] = copies()
    assert.deepEqual(others, [])
    assert.ok(copy !== undefined)
    assert.equal(copy.key.name, schema.metadata.uid)
    const { annotations, name } = copy.object.metadata
    assert.equal(name, schema.metadata.uid)
    assert.deepEqual(annotations, {
      'apis.kcp.io/bound-crd': '',
      'apis.kcp.io/schema-cluster': 'provider',
      'apis.kcp.io/schema-name': 'v1.widgets.example.com',
      'internal.kcp.io/validate-name': 'path-segment',
      'kcp.io/cluster': boundCRDsCluster,
    })
  })

  it('serve bound resources when the schema was deleted, after a restart too', async () => {
    const before = shard.backend.apis('c1')
    await forget()
    assert.equal(shard.backend.apis('c1'), before)
    const again = await testShard({ store: shard.store })
    try {
      assert.ok(isServed(again))
      const name = 'any:name'
      const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } }
      const ref = { group: 'example.com', version: 'v1', resource: 'widgets' }
      await again.client.create(ref, clusterScoped('c1', name), object)
    } finally {
      await again.stop()
    }
  })

  it('keep their names from other definitions when the schema was deleted', async () => {
    const { informers } = shard
    const taken = takenNames(informers.for(resources.crds), informers)
    const names = { plural: 'gizmos', singular: 'gizmo', kind: 'Widget', listKind: 'GizmoList' }
    const other = asCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gizmos.example.com' },
      spec: { group: 'example.com', names, scope: 'Cluster', versions: [] },
    })
    const verdict = () => conditionOf(namingStatus(other, taken('c1', other)), 'NamesAccepted')?.reason
    assert.equal(verdict(), 'KindConflict')
    await forget()
    assert.equal(verdict(), 'KindConflict')
  })

  it('are deleted when they were not bound for long enough', async () => {
    await forget()
    const { log, client, informers } = shard
    const stop = new AbortController()
    const controller = boundSchemaController({ log, client, informers, isBound: shard.isBound }, 10)
    const running = Promise.all([controller.run(stop.signal), shard.run()])
    try {
      await controller.idle()
      assert.equal(copies().length, 1, 'it is bound')
      await shard.client.delete(resources.apiBindings, clusterScoped('c1', 'widgets'))
      await until(() => (copies().length === 0 ? true : undefined))
      assert.ok(!isServed())
    } finally {
      stop.abort()
      await shard.stop()
      await running
    }
  })

  it('are deleted also in the core group', async () => {
    const name = 'v1.widgets.core'
    const wanted = resourceSchema(name, [storageVersion('v1')], '')
    const core = await shard.client.create(resources.apiResourceSchemas, at(wanted), wanted)
    const resource = { name: 'widgets', group: '', schema: name }
    const object: APIExport = { ...exported, spec: { resources: [resource] } }
    await keepSchemas(shard, { cluster: 'provider', object })
    await bindIn(shard, 'c1', core, { group: '' })
    const ofCore = () => copies().find(({ key }) => key.name === core.metadata.uid)
    assert.ok(ofCore() !== undefined)
    assert.ok(shard.backend.apis('c1')?.find('', 'v1', 'widgets') !== undefined)
    const { log, client, informers } = shard
    const stop = new AbortController()
    const controller = boundSchemaController({ log, client, informers, isBound: shard.isBound }, 10)
    const running = Promise.all([controller.run(stop.signal), shard.run()])
    try {
      await shard.client.delete(resources.apiBindings, clusterScoped('c1', 'widgets'))
      await until(() => (ofCore() === undefined ? true : undefined))
      assert.equal(shard.backend.apis('c1')?.find('', 'v1', 'widgets'), undefined)
    } finally {
      stop.abort()
      await shard.stop()
      await running
    }
  })

  it('are kept while they are young', async () => {
    const { log, client, informers } = shard
    const stop = new AbortController()
    const controller = boundSchemaController({ log, client, informers, isBound: () => false })
    const running = controller.run(stop.signal)
    await controller.idle()
    assert.equal(copies()[0]?.object.metadata.deletionTimestamp, undefined)
    stop.abort()
    await running
  })
})
