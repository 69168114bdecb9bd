import assert from 'node:assert/strict'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'

const cluster = 'c1'
const sets = { group: 'example.com', version: 'v1', resource: 'sets' }
const key = { cluster, namespace: '', name: 'a' }
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'sets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'sets', kind: 'Set' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: {
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
}

describe('the scale subresource', () => {
  let shard: TestShard
  const scale = { ...sets, subresource: 'scale' }
  const update = (change: (scale: KubeObject) => KubeObject) =>
    shard.backend.storage(scale).update(shard.context(scale, cluster), key, item => change(item.object), {
      dryRun: false,
      fieldManager: '',
    })

  before(async () => {
    shard = await testShard()
    void shard.run()
    await shard.addCluster(cluster)
    await shard.client.create(resources.crds, { ...key, name: 'sets.example.com' }, definition)
    await until(() => shard.backend.apis(cluster)?.find('example.com', 'v1', 'sets'))
    const spec = { replicas: 2, other: 'kept' }
    await shard.client.create(sets, key, {
      apiVersion: 'example.com/v1',
      kind: 'Set',
      metadata: { name: 'a' },
      spec,
      status: { replicas: 1, selector: 'a=b' },
    })
  })
  after(() => shard.stop())

  it('shows the replicas of the object, at its version', async () => {
    const { object } = await shard.backend.storage(scale).get(shard.context(scale, cluster), key)
    const parent = await shard.backend.storage(sets).get(shard.context(sets, cluster), key)
    assert.deepEqual([object.apiVersion, object.kind], ['autoscaling/v1', 'Scale'])
    assert.deepEqual([object.spec, object.status], [{ replicas: 2 }, { replicas: 1, selector: 'a=b' }])
    assert.equal(object.metadata.resourceVersion, parent.meta.resourceVersion)
    assert.equal(object.metadata.uid, parent.meta.uid)
  })

  it('writes them, and nothing else', async () => {
    const { object } = await update(current => ({ ...current, spec: { replicas: 5 } }))
    assert.deepEqual(object.spec, { replicas: 5 })
    const parent = await shard.backend.storage(sets).get(shard.context(sets, cluster), key)
    assert.deepEqual(parent.object.spec, { other: 'kept', replicas: 5 })
    assert.equal(parent.object.metadata.generation, 2)
  })

  it('has the version of the object as its own, and no negative replicas', async () => {
    const refused = (change: object, metadata: object = {}) =>
      update(current => ({ ...current, ...change, metadata: { ...current.metadata, ...metadata } })).then(
        () => 0,
        (error: unknown) => (error instanceof StatusError ? error.code : error),
      )
    assert.equal(await refused({ spec: { replicas: 1 } }, { resourceVersion: '1' }), 409)
    assert.equal(await refused({ spec: { replicas: -1 } }), 422)
  })

  it('is checked in every write of the object', async () => {
    const create = (fields: object) =>
      shard.client
        .create(
          sets,
          { ...key, name: 'b' },
          { apiVersion: 'example.com/v1', kind: 'Set', metadata: { name: 'b' }, ...fields },
        )
        .then(
          () => '',
          (error: Error) => error.message,
        )
    const invalid = (path: string, text: string) =>
      `Set.example.com "b" is invalid: ${path}: Invalid value: ${text}`
    const cases: readonly [fields: object, path: string, text: string][] = [
      [{ spec: { replicas: -1 } }, '.spec.replicas', '-1: should be a non-negative integer'],
      [
        { spec: { replicas: 2 ** 31 } },
        '.spec.replicas',
        '2147483648: should be less than or equal to 2147483647',
      ],
      [
        { spec: { replicas: 'x' } },
        '.spec.replicas',
        '0: .spec.replicas accessor error: x is of the type string, expected int64',
      ],
      [{ status: { replicas: -2 } }, '.status.replicas', '-2: should be a non-negative integer'],
      [
        { status: { selector: { a: [1] } } },
        '.status.selector',
        '"": .status.selector accessor error: map[a:[1]] is of the type map[string]interface {}, expected string',
      ],
    ]
    for (const [fields, path, text] of cases) assert.equal(await create(fields), invalid(path, text))
    assert.equal(await create({ spec: { replicas: 2 ** 31 - 1 }, status: { replicas: 0 } }), '')
  })
})
