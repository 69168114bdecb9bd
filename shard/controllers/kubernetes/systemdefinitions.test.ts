import assert from 'node:assert/strict'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import { silent } from '../../../framework/contract/log.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { encodeStored, storageKey } from '../../cache/codec.ts'
import { storedResourceOf } from '../../manifests/apply.ts'
import { cleanupFinalizer } from '../../registry/crd.ts'
import { testShard, until } from '../../testing/shard.ts'
import { createClient } from '../client.ts'
import { definitionController } from './customresourcedefinition.ts'

const cluster = 'c1'
const key = { cluster, namespace: '', name: 'logicalclusters.core.kcp.io' }

/** As an earlier version stored it. */
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: key.name,
    uid: 'a',
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [cleanupFinalizer],
  },
  spec: {
    ...{
      group: 'core.kcp.io',
      scope: 'Cluster',
      names: { plural: 'logicalclusters', kind: 'LogicalCluster' },
    },
    versions: [
      { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}

it('the deletion of a definition in a group of the system leaves the objects of the system', async () => {
  const stop = new AbortController()
  const shard = await testShard({
    controllers: ({ client, content, informers, backend }) => {
      const storage = backend.storage(resources.logicalClusters)
      const served = { group: 'core.kcp.io', version: 'v1alpha1', names: { plural: 'logicalclusters' } }
      const resource = { ...served, storage, schema: {} } as unknown as ApiResource
      const { signal } = stop
      const deps = { client, content, informers, resourcesOf: () => [resource], log: silent }
      return [definitionController({ ...deps, clientOver: of => createClient({ backend: of, signal }) })]
    },
  })
  await shard.addCluster(cluster)
  const value = encodeStored(definition)
  await shard.store.commit([{ key: storageKey(storedResourceOf(resources.crds), key), value }])
  const definitions = shard.informers.for(resources.crds)
  await until(() => definitions.get(cluster, '', key.name))
  const running = shard.run()
  await shard.client.delete(resources.crds, key)
  await until(() => (definitions.get(cluster, '', key.name) === undefined ? true : undefined))
  const left = await shard.client.list(resources.logicalClusters, cluster)
  assert.deepEqual(
    left.map(({ object: { metadata } }) => [metadata.name, metadata.deletionTimestamp]),
    [['cluster', undefined]],
  )
  stop.abort()
  await shard.stop()
  await running
})
