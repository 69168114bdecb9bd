import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { clusterScoped } from '../controllers/client.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { type BoundSets, boundSetsOf } from './boundsets.ts'

const binding = (name: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name },
  spec: { reference: { export: { path: 'root', name } } },
})

const boundTo = (exportCluster: string, plurals: readonly string[]): object => ({
  apiExportClusterName: exportCluster,
  boundResources: plurals.map(resource => ({
    group: 'example.com',
    resource,
    schema: { name: `v1.${resource}.example.com`, UID: resource, identityHash: 'a'.repeat(64) },
  })),
})

describe('the bound resources of logical clusters', () => {
  let shard: TestShard
  let bound: BoundSets
  const bind = async (cluster: string, name: string, ...plurals: string[]): Promise<void> => {
    const key = clusterScoped(cluster, name)
    if (shard.informers.for(resources.apiBindings).get(cluster, '', name) === undefined)
      await shard.client.create(resources.apiBindings, key, binding(name))
    const status = boundTo('provider', plurals)
    const ref = { ...resources.apiBindings, subresource: 'status' }
    await shard.client.update(ref, key, current => ({ ...current, status }))
  }
  const namesIn = (cluster: string, plural: string) =>
    bound
      .of(cluster, 'example.com', plural)
      .map(({ path, name, exportCluster }) => [path, name, exportCluster])

  beforeEach(async () => {
    shard = await testShard()
    for (const cluster of ['c1', 'c2']) await shard.addCluster(cluster)
    bound = boundSetsOf(shard.informers)
  })
  afterEach(() => shard.stop())

  it('are those of the status of each binding', async () => {
    await bind('c1', 'toys', 'balls', 'dolls')
    await bind('c1', 'tools', 'saws')
    assert.deepEqual(namesIn('c1', 'dolls'), [['root', 'toys', 'provider']])
    assert.deepEqual(namesIn('c1', 'saws'), [['root', 'tools', 'provider']])
    assert.deepEqual(namesIn('c1', 'planes'), [])
    assert.deepEqual(namesIn('c2', 'dolls'), [])
    assert.deepEqual(bound.of('c1', 'other.example.com', 'dolls'), [])
  })

  it('follow changes and deletions of bindings', async () => {
    await bind('c1', 'toys', 'balls')
    await bind('c1', 'tools', 'saws')
    await bind('c1', 'toys', 'dolls')
    assert.deepEqual(namesIn('c1', 'balls'), [])
    assert.deepEqual(namesIn('c1', 'dolls'), [['root', 'toys', 'provider']])
    await shard.client.delete(resources.apiBindings, clusterScoped('c1', 'toys'))
    assert.deepEqual(namesIn('c1', 'dolls'), [])
    assert.deepEqual(namesIn('c1', 'saws'), [['root', 'tools', 'provider']])
  })

  it('are one object for equal bindings of all workspaces', async () => {
    await bind('c1', 'toys', 'balls')
    await bind('c2', 'toys', 'balls')
    assert.equal(bound.of('c1', 'example.com', 'balls')[0], bound.of('c2', 'example.com', 'balls')[0])
    await bind('c2', 'toys', 'balls', 'dolls')
    assert.notEqual(bound.of('c1', 'example.com', 'balls')[0], bound.of('c2', 'example.com', 'balls')[0])
  })
})
