import { authorizationParts } from '../../cmd/authorization.ts'
import type { Action } from '../../framework/authorizer.ts'
import type { ResourceRef } from '../../framework/backend.ts'
import type { KubeObject } from '../../framework/object.ts'
import type { UserInfo } from '../../framework/user.ts'
import type { VirtualWorkspace } from '../../framework/workspace.ts'
import { exportHash, exportLabel } from '../../openapi/labels.ts'
import { claimsDecorator } from '../../shard/claims/decorator.ts'
import { resources } from '../../shard/controllers/objects.ts'
import { type TestShard, testShard } from '../../shard/testing/shard.ts'
import { apiexport } from '../../virtual/apiexport/index.ts'
import { type Bound, type Export, namespaces, systemAdmin, type World } from './world.ts'

/** The real thing: a shard with the objects of a world, its authorizer and its view. */
export interface Served {
  readonly shard: TestShard
  readonly view: VirtualWorkspace
  mayPlainly(user: UserInfo, action: Action): Promise<boolean>
  mayThroughView(of: Export, user: UserInfo, action: Action): Promise<boolean>
}

export async function serveWorld(world: World): Promise<Served> {
  const shard = await testShard({ authorizer: authorizationParts().authorizer, decorate: claimsDecorator })
  await fill(shard, world)
  const view = apiexport(shard)
  const { signal } = new AbortController()
  return {
    shard,
    view,
    mayPlainly: async (user, action) =>
      (await shard.backend.authorizer.authorize(user, action, signal)).effect === 'allow',
    mayThroughView: async (of, user, action) => {
      const { cluster, verb, path = '', resource } = action
      const about = resource === undefined ? { isResource: false } : { isResource: true, ...resource }
      const info = { ...about, verb, path }
      const params = { provider: of.cluster, name: of.name }
      const ctx = { workspace: 'apiexport', params, cluster, info, user, actAs: user, hops: 0, signal }
      if (user.groups.includes('system:masters')) return true
      return (await view.authorize?.(ctx as never))?.effect === 'allow'
    },
  }
}

const rbac = (resource: string): ResourceRef => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource,
})
const apiGroup = 'rbac.authorization.k8s.io'

async function fill(shard: TestShard, world: World): Promise<void> {
  const put = (ref: ResourceRef, cluster: string, object: KubeObject): Promise<KubeObject> => {
    const { name = '', namespace = '' } = object.metadata
    return shard.client.create(ref, { cluster, namespace, name }, object)
  }
  await putClusters(shard, world, put)
  await putRbac(world, put)
  for (const each of world.exports) await putExport(shard, each, put)
  for (const each of world.apiBindings) await putBinding(shard, each, put)
  for (const { cluster, namespace, name, labels } of world.configMaps)
    await put(resources.configMaps, cluster, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels },
    })
}

type Put = (ref: ResourceRef, cluster: string, object: KubeObject) => Promise<KubeObject>

async function putClusters(shard: TestShard, world: World, put: Put): Promise<void> {
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const cluster of [systemAdmin, ...Object.keys(world.clusters)])
    for (const name of namespaces) await put(resources.namespaces, cluster, namespace(name))
  for (const [cluster, { phase, required }] of Object.entries(world.clusters)) {
    const annotations = required === undefined ? {} : { 'authorization.kcp.io/required-groups': required }
    await put(resources.logicalClusters, cluster, {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations },
      spec: {},
    })
    if (phase !== '')
      await withStatus(shard, resources.logicalClusters, { cluster, name: 'cluster' }, { phase })
  }
}

const withStatus = (
  { client }: TestShard,
  ref: ResourceRef,
  { cluster, name }: { cluster: string; name: string },
  status: object,
): Promise<KubeObject> =>
  client.update({ ...ref, subresource: 'status' }, { cluster, namespace: '', name }, current => ({
    ...current,
    status,
  }))

async function putRbac(world: World, put: Put): Promise<void> {
  for (const { cluster, namespace, name, rules } of world.roles) {
    const kind = namespace === '' ? 'ClusterRole' : 'Role'
    const metadata = { name, ...(namespace === '' ? {} : { namespace }) }
    await put(rbac(`${kind.toLowerCase()}s`), cluster, {
      apiVersion: `${apiGroup}/v1`,
      kind,
      metadata,
      rules,
    })
  }
  for (const { cluster, namespace, name, role, subjects } of world.bindings) {
    const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
    const metadata = { name, ...(namespace === '' ? {} : { namespace }) }
    const roleRef = { apiGroup, ...role }
    const object = { apiVersion: `${apiGroup}/v1`, kind, metadata, roleRef, subjects }
    await put(rbac(`${kind.toLowerCase()}s`), cluster, object)
  }
}

async function putExport(shard: TestShard, each: Export, put: Put): Promise<void> {
  const { cluster, name, identity, policy, claims } = each
  const local = { none: {}, local: { maximalPermissionPolicy: { local: {} } } }
  await put(resources.apiExports, cluster, {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name },
    spec: { permissionClaims: claims, ...local[policy] },
  })
  await withStatus(shard, resources.apiExports, { cluster, name }, { identityHash: identity })
}

async function putBinding(shard: TestShard, each: Bound, put: Put): Promise<void> {
  const { cluster, name, to, claims } = each
  await put(resources.apiBindings, cluster, {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name, labels: { [exportLabel]: exportHash(to) } },
    spec: { reference: { export: { path: to.cluster, name: to.name } }, permissionClaims: claims },
  })
  const boundResources = each.resources.map(({ group, resource, identity }) => ({
    group,
    resource,
    schema: { name: `v1.${resource}.${group}`, UID: `uid-${resource}`, identityHash: identity },
    storageVersions: ['v1'],
  }))
  const status = { apiExportClusterName: to.cluster, boundResources, phase: 'Bound' }
  await withStatus(shard, resources.apiBindings, { cluster, name }, status)
}
