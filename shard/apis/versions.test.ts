import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const cluster = 'c1'
const bindings = { ...resources.apiBindings, version: 'v1alpha1' }
const statuses = { ...bindings, subresource: 'status' }

describe('writes in a version that is not stored', () => {
  let shard: TestShard
  const key = (name: string) => ({ cluster, namespace: '', name })
  const binding = (name: string, more: object = {}): KubeObject => ({
    apiVersion: 'apis.kcp.io/v1alpha1',
    kind: 'APIBinding',
    metadata: { name },
    spec: { reference: { export: { path: 'root', name: 'e' } } },
    ...more,
  })
  const wrong = { phase: 7, appliedPermissionClaims: 'x', exportPermissionClaims: [5], conditions: [{}] }
  const update = (ref: typeof bindings, name: string, change: object) =>
    shard.client.update(ref, key(name), object => ({ ...object, ...change }))
  before(async () => {
    shard = await testShard()
    await shard.addCluster(cluster)
    for (const name of ['a', 'b']) await shard.client.create(bindings, key(name), binding(name))
  })
  after(() => shard.stop())

  it('of the object validate and convert no status', async () => {
    const created = await shard.client.create(bindings, key('c'), binding('c', { status: wrong }))
    assert.equal((created.status as { phase?: unknown } | undefined)?.phase, undefined)
    const claim = { group: '', resource: 'configmaps', all: true, verbs: ['*'] }
    await update(statuses, 'a', { status: { phase: 'Bound', exportPermissionClaims: [claim] } })
    for (const status of [wrong, 'x', { phase: 'Nonsense' }]) {
      const { status: kept } = await update(bindings, 'a', {
        status,
        metadata: { name: 'a', labels: { a: 'b' } },
      })
      assert.equal((kept as { phase?: string }).phase, 'Bound')
    }
  })

  it('of the status validate and convert no spec', async () => {
    for (const spec of ['x', { reference: 5, permissionClaims: 'x' }, undefined]) {
      const stored = await update(statuses, 'b', { spec, status: { phase: 'Binding' } })
      assert.deepEqual(stored.spec, { reference: { export: { path: 'root', name: 'e' } } })
    }
    await assert.rejects(update(statuses, 'b', { status: wrong }), {
      code: 422,
      message: /status.phase: Invalid value: "integer": phase in body must be of type string/,
    })
  })

  it('of the object validate its spec', () =>
    assert.rejects(update(bindings, 'b', { spec: 'x' }), {
      code: 422,
      message: /^APIBinding.apis.kcp.io "b" is invalid: .*spec in body must be of type object/,
    }))
})
