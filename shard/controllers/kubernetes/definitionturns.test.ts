import assert from 'node:assert/strict'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import { silent } from '../../../framework/contract/log.ts'
import { serviceUnavailable } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type ResourcesOf, servedName } from '../../apis/served.ts'
import { asCrd } from '../../registry/crd.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'
import { type ControllerClient, createClient } from '../client.ts'
import type { Controller } from '../controller.ts'
import { definitionController } from './customresourcedefinition.ts'

const cluster = 'c1'
const other = 'c2'
const many = 20
/** The definition whose schema takes long. */
const held = many
const keyOf = (i: number, at = cluster) => ({ cluster: at, namespace: '', name: `things${i}.example.com` })
const definition = (i: number): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things${i}.example.com` },
  spec: {
    ...{ group: 'example.com', scope: 'Cluster', names: { plural: `things${i}`, kind: `Thing${i}` } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

describe('definitions that are deleted together', () => {
  let shard: TestShard
  let controller: Controller
  let running: Promise<void>
  const stop = new AbortController()
  /** Preparations of schemas, of a millisecond each: all, those in this turn of the event loop, and the most in one. */
  const preparing = { all: 0, inTurn: 0, most: 0 }
  /** Resolves when the preparation of the schemas in the first logical cluster goes on. */
  let going: Promise<void>
  const prepare = async (): Promise<void> => {
    preparing.all++
    if (preparing.inTurn++ === 0)
      setImmediate(() => {
        preparing.inTurn = 0
      })
    preparing.most = Math.max(preparing.most, preparing.inTurn)
    for (const end = performance.now() + 1; performance.now() < end; );
  }

  let isLost = false
  let refused = 0
  const refuse = () => {
    refused++
    return Promise.reject(serviceUnavailable('the Lease was lost'))
  }
  const lost: ControllerClient = { list: refuse, create: refuse, update: refuse, delete: refuse }

  before(async () => {
    shard = await testShard({
      controllers: ({ client, content, informers, backend }) => {
        const storage = backend.storage(resources.configMaps)
        const resource = { group: '', version: 'v1', names: { plural: 'configmaps' }, storage }
        const resourcesOf: ResourcesOf = served => {
          const schema = { prepare: servedName(served) === keyOf(held).name ? () => going : prepare }
          return [{ ...resource, schema } as unknown as ApiResource]
        }
        const { signal } = stop
        const deps = { client, content, informers, resourcesOf, log: silent }
        controller = definitionController({
          ...deps,
          clientOver: of => (isLost ? lost : createClient({ backend: of, signal })),
        })
        return []
      },
    })
    running = controller.run(stop.signal)
    for (const each of [cluster, other]) await shard.addCluster(each)
  })
  after(async () => {
    stop.abort()
    await running
    await shard.stop()
  })

  it('have their schemas prepared in several turns', async () => {
    const all = Array.from({ length: many }, (_, i) => i)
    for (const i of all) await shard.client.create(resources.crds, keyOf(i), definition(i))
    await controller.idle()
    await Promise.all(all.map(i => shard.client.delete(resources.crds, keyOf(i))))
    await controller.idle()
    assert.deepEqual(await shard.client.list(resources.crds, cluster), [])
    assert.ok(preparing.all >= many, `${preparing.all} preparations`)
    assert.ok(preparing.most <= many / 2, `${preparing.most} in a turn`)
  })

  it('do not wait for those of another logical cluster', async () => {
    let goOn = (): void => undefined
    going = new Promise(resolve => {
      goOn = resolve
    })
    const keys = [keyOf(held), keyOf(0, other)]
    await shard.client.create(resources.crds, keyOf(held), definition(held))
    await shard.client.create(resources.crds, keyOf(0, other), definition(0))
    await controller.idle()
    for (const key of keys) await shard.client.delete(resources.crds, key)
    const definitions = shard.informers.for(resources.crds)
    await until(() => (definitions.list(other).length === 0 ? true : undefined))
    assert.equal(definitions.list(cluster).length, 1)
    goOn()
    await controller.idle()
    assert.deepEqual(await shard.client.list(resources.crds, cluster), [])
  })

  it('leave a definition of the same name alone that was created while their schemas were prepared', async () => {
    let goOn = (): void => undefined
    going = new Promise(resolve => {
      goOn = resolve
    })
    const key = keyOf(held)
    await shard.client.create(resources.crds, key, definition(held))
    await controller.idle()
    await shard.client.delete(resources.crds, key)
    const definitions = shard.informers.for(resources.crds)
    const current = (): KubeObject | undefined => definitions.get(cluster, '', key.name)?.object
    await until(() => (isTerminating(current()) ? true : undefined))
    await shard.client.update(resources.crds, key, object => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [] },
    }))
    await until(() => (current() === undefined ? true : undefined))
    const { metadata } = await shard.client.create(resources.crds, key, definition(held))
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
    await shard.client.create(resources.namespaces, { cluster, namespace: '', name: 'n' }, namespace)
    const instance = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } }
    await shard.client.create(resources.configMaps, { cluster, namespace: 'n', name: 'a' }, instance)
    goOn()
    await controller.idle()
    assert.equal((await shard.client.list(resources.configMaps, cluster)).length, 1)
    assert.equal(current()?.metadata.uid, metadata.uid)
    assert.equal(isTerminating(current()), false)
  })

  it('keep their objects while another server may run the controllers', async () => {
    going = Promise.resolve()
    isLost = true
    await shard.client.delete(resources.crds, keyOf(held))
    const definitions = shard.informers.for(resources.crds)
    await until(() =>
      isTerminating(definitions.get(cluster, '', keyOf(held).name)?.object) ? true : undefined,
    )
    await until(() => (refused > 0 ? true : undefined))
    assert.equal((await shard.client.list(resources.configMaps, cluster)).length, 1)
  })
})

const isTerminating = (object: KubeObject | undefined): boolean =>
  object !== undefined &&
  asCrd(object).status?.conditions?.some(({ type }) => type === 'Terminating') === true
