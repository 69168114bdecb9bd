import assert from 'node:assert/strict'
import { itemOf } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { testShard } from '../testing/shard.ts'
import { changeTo, copyOf } from './copying.ts'

const exported = (more: object = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: {
    name: 'widgets',
    uid: 'u-1',
    resourceVersion: '7',
    annotations: { 'kcp.io/cluster': 'abc', 'kcp.io/path': 'root:abc' },
    labels: { team: 'a', 'claimed.internal.apis.kcp.io/x': 'y', 'initializer.internal.kcp.io/z': 'z' },
    finalizers: ['example.com/hold'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }],
    managedFields: [],
  },
  spec: {},
  ...more,
})

describe('copies of objects of other shards', () => {
  it('are the same object, without labels and finalizers for controllers', () => {
    const { metadata } = copyOf(exported(), 'beta')
    assert.deepEqual(metadata, {
      name: 'widgets',
      uid: 'u-1',
      annotations: { 'kcp.io/cluster': 'abc', 'kcp.io/path': 'root:abc', 'kcp.io/shard': 'beta' },
      labels: { team: 'a' },
    })
  })

  it('are written when they differ, and never replace objects of the shard itself', async () => {
    const shard = await testShard()
    const original = (object: KubeObject) => ({
      resource: resources.apiExports,
      item: itemOf(object, 'abc'),
    })
    const change = (object: KubeObject, from = 'beta') => changeTo(shard.content, original(object), from)
    const first = change(exported())
    assert.equal(first?.expected, 0)
    await shard.content.commit([first])
    assert.equal(change(exported()), undefined)
    const second = change(exported({ spec: { resources: [] } }))
    assert.ok(second?.expected)
    assert.ok(change(exported(), 'gamma')?.expected, 'a copy of the shard that had it before')
    await shard.content.commit([{ ...second, value: undefined }])
    await shard.addCluster('abc')
    const key = { cluster: 'abc', namespace: '', name: 'widgets' }
    const { ownerReferences: _, resourceVersion: __, ...metadata } = exported().metadata
    await shard.client.create(resources.apiExports, key, { ...exported(), metadata })
    assert.equal(change(exported({ spec: { resources: [] } })), undefined, 'its own')
    await shard.stop()
  })
})
