import assert from 'node:assert/strict'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { APIExportEndpointSlice } from '../../../kcp/apis.ts'
import { findCondition } from '../../../kcp/conditions.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { type TestKcpShard, testKcpShard } from '../../testing/kcpshard.ts'
import { type TestShard, until } from '../../testing/shard.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import type { TenancyResources } from '../host.ts'

describe('an endpoint slice', () => {
  let shard: TestShard
  let tenancy: TenancyResources
  let started: TestKcpShard

  before(async () => {
    started = await testKcpShard()
    shard = started.shard
    tenancy = started.tenancy
  })
  after(() => started.stop())

  const create = (ref: ResourceRef, cluster: string, object: KubeObject): Promise<KubeObject> =>
    shard.client.create(ref, clusterScoped(cluster, object.metadata.name ?? ''), object)

  const workspaceNamed = (name: string): Workspace | undefined =>
    shard.informers.for(tenancy.workspaces).get('root', '', name)?.object as Workspace | undefined

  const workspace = async (name: string): Promise<string> => {
    const annotations = { 'experimental.tenancy.kcp.io/owner': '{"username":"alice"}' }
    const apiVersion = 'tenancy.kcp.io/v1alpha1'
    const metadata = { name, annotations }
    await create(tenancy.workspaces, 'root', { apiVersion, kind: 'Workspace', metadata, spec: {} })
    return until(() => {
      const found = workspaceNamed(name)
      return found?.status?.phase === 'Ready' ? found.spec?.cluster : undefined
    })
  }

  const provide = async (): Promise<void> => {
    const apiVersion = 'apis.kcp.io/v1alpha2'
    const exported = { apiVersion, kind: 'APIExport', metadata: { name: 'toys' }, spec: {} }
    await create(resources.apiExports, await workspace('provider'), exported)
  }

  const sliceIn = (cluster: string): APIExportEndpointSlice | undefined =>
    shard.informers.for(resources.endpointSlices).get(cluster, '', 'toys')?.object as
      | APIExportEndpointSlice
      | undefined

  /** The condition of the slice, when its status is this. */
  const reached = (cluster: string, status: 'True' | 'False', type = 'APIExportValid') =>
    until(() => {
      const condition = findCondition(sliceIn(cluster)?.status?.conditions, type)
      return condition?.status === status ? condition : undefined
    })

  it('finds the export in another workspace with the path of a deleted one', async () => {
    const consumer = await workspace('consumer')
    await provide()
    await create(resources.endpointSlices, consumer, {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIExportEndpointSlice',
      metadata: { name: 'toys' },
      spec: { export: { path: 'root:provider', name: 'toys' } },
    })
    await reached(consumer, 'True')
    await shard.client.delete(tenancy.workspaces, clusterScoped('root', 'provider'))
    await until(() => (workspaceNamed('provider') === undefined ? true : undefined))
    assert.equal((await reached(consumer, 'False')).reason, 'APIExportNotFound')
    await provide()
    await reached(consumer, 'True')
  })

  it('reports a partition that selects by an unknown operator, and keeps its endpoints', async () => {
    const cluster = await workspace('partitioned')
    await create(tenancy.partitions, cluster, {
      apiVersion: 'topology.kcp.io/v1alpha1',
      kind: 'Partition',
      metadata: { name: 'near' },
      spec: { selector: { matchExpressions: [{ key: 'region', operator: 'Near' }] } },
    })
    const apiVersion = 'apis.kcp.io/v1alpha2'
    const exported = { apiVersion, kind: 'APIExport', metadata: { name: 'toys' }, spec: {} }
    await create(resources.apiExports, cluster, exported)
    await create(resources.endpointSlices, cluster, {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIExportEndpointSlice',
      metadata: { name: 'toys' },
      spec: { export: { name: 'toys' }, partition: 'near' },
    })
    const target = clusterScoped(cluster, 'toys')
    const { reason, message } = await reached(cluster, 'False', 'PartitionValid')
    assert.equal(reason, 'PartitionInvalidReference')
    assert.equal(message, '"Near" is not a valid label selector operator')
    await updateStatus<APIExportEndpointSlice>(shard.client, resources.endpointSlices, target, current => ({
      ...current,
      status: { ...current.status, endpoints: [{ url: 'https://views.example.com' }] },
    }))
    await updateObject(shard.client, tenancy.partitions, clusterScoped(cluster, 'near'), current => ({
      ...current,
      spec: { selector: { matchExpressions: [{ key: 'region', operator: 'Far' }] } },
    }))
    const status = await until(() => {
      const found = sliceIn(cluster)?.status
      return findCondition(found?.conditions, 'PartitionValid')?.message?.startsWith('"Far"')
        ? found
        : undefined
    })
    assert.equal(status.endpoints?.length, 1)
  })
})
