import assert from 'node:assert/strict'
import { type Host, type Item, itemOf, type KubeObject, type ResourceRef } from '../../../framework/index.ts'
import { compileViewExpression, requestAllowance } from '../../../openapi/index.ts'
import { ClusterIndex } from './clusterindex.ts'

const tenancy: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'tenancy.kcp.io' },
  status: { identityHash: 'abc' },
}
const workspace: KubeObject = {
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'team', uid: 'u', labels: { private: 'yes' } },
  spec: { cluster: 'c' },
}
const logicalCluster = (owner?: object): KubeObject => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', annotations: { 'kcp.io/path': 'root:team' } },
  spec: { ...(owner && { owner }) },
})
const owner = { cluster: 'root', name: 'team', uid: 'u' }

/** A host with these objects, by resource. */
function hostWith(objects: Readonly<Record<string, KubeObject>>): Host {
  const get = (resource: string, cluster: string): Item | undefined => {
    const object = objects[resource]
    return object && itemOf(object, cluster)
  }
  const informers = {
    for: ({ resource }: ResourceRef) => ({ get: (cluster: string) => get(resource, cluster) }),
  }
  return { informers } as unknown as Host
}

/** The result of an expression that is true for workspaces without a label. */
function isPublic(objects: Readonly<Record<string, KubeObject>>): unknown {
  const index = new ClusterIndex(hostWith({ apiexports: tenancy, ...objects }))
  const kind = { group: '', version: 'v1', kind: 'ConfigMap', openapi: {} }
  const expression = compileViewExpression("!('private' in cluster.labels)", kind, 'bool')
  assert.ok('reads' in expression)
  const item = itemOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, 'c')
  const user = { name: 'ada', uid: '', groups: [], extra: {} }
  return expression.evaluate({ item, cluster: index.of('c'), user }, requestAllowance())
}

describe('the facts of a logical cluster', () => {
  it('have the labels of its workspace', () => {
    assert.deepEqual(isPublic({ logicalclusters: logicalCluster(owner), workspaces: workspace }), {
      value: false,
    })
    const open = { ...workspace, metadata: { ...workspace.metadata, labels: {} } }
    assert.deepEqual(isPublic({ logicalclusters: logicalCluster(owner), workspaces: open }), { value: true })
  })

  it('have no labels without a workspace', () =>
    assert.deepEqual(isPublic({ logicalclusters: logicalCluster() }), { value: true }))

  it('have unknown labels where the workspace is on another shard, or another one has its name: expressions fail', () => {
    const failure = { failure: 'no such key' }
    assert.deepEqual(isPublic({ logicalclusters: logicalCluster(owner) }), failure)
    const other = { ...workspace, metadata: { ...workspace.metadata, uid: 'other', labels: {} } }
    assert.deepEqual(isPublic({ logicalclusters: logicalCluster(owner), workspaces: other }), failure)
  })
})
