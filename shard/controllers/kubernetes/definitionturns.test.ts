import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import { silent } from '../../../framework/contract/log.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type TestShard, testShard } from '../../testing/shard.ts'
import type { Controller } from '../controller.ts'
import { definitionController } from './customresourcedefinition.ts'

const cluster = 'c1'
const many = 20
const keyOf = (i: number) => ({ cluster, namespace: '', name: `things${i}.example.com` })
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
  /** Preparations of schemas: those that run, the most that ran together, and all. */
  const preparing = { now: 0, most: 0, all: 0 }
  const prepare = async (): Promise<void> => {
    preparing.all++
    preparing.most = Math.max(preparing.most, ++preparing.now)
    await turn()
    preparing.now--
  }

  before(async () => {
    shard = await testShard({
      controllers: ({ client, content, informers, backend }) => {
        const storage = backend.storage(resources.configMaps)
        const resource = {
          group: '',
          version: 'v1',
          names: { plural: 'configmaps' },
          storage,
          schema: { prepare },
        }
        const resourcesOf = () => [resource as unknown as ApiResource]
        const { signal } = stop
        controller = definitionController({ client, content, informers, resourcesOf, signal, log: silent })
        return []
      },
    })
    running = controller.run(stop.signal)
    await shard.addCluster(cluster)
  })
  after(async () => {
    stop.abort()
    await running
    await shard.stop()
  })

  it('have their schemas prepared one after another', async () => {
    const all = Array.from({ length: many }, (_, i) => i)
    for (const i of all) await shard.client.create(resources.crds, keyOf(i), definition(i))
    await controller.idle()
    await Promise.all(all.map(i => shard.client.delete(resources.crds, keyOf(i))))
    await controller.idle()
    assert.deepEqual(await shard.client.list(resources.crds, cluster), [])
    assert.ok(preparing.all >= many, `${preparing.all} preparations`)
    assert.equal(preparing.most, 1)
  })
})
