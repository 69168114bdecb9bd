import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { exportHash, exportLabel } from '../../kcp/labels.ts'
import { resources } from '../../kcp/resources.ts'
import { mirrorLogicalCluster } from '../../shard/admission/kcp/metadata.ts'
import type { Manifest } from '../../shard/manifests/manifest.ts'
import { offerOf, type Publication, publicationManifests } from './publications.ts'
import type { Child } from './tree.ts'
import { type Bound, type Export, namespaces, systemAdmin, type World } from './world.ts'

/** All objects of a world as stored, without those that every server creates. */
export const manifestsOf = (world: World, informers: Informers): readonly Manifest[] => [
  ...[systemAdmin, ...Object.keys(world.clusters)].flatMap(namespacesIn),
  ...Object.keys(world.clusters)
    .filter(cluster => cluster !== 'root')
    .flatMap(cluster => [logicalCluster(world, cluster), ...rootBindings(informers, cluster)]),
  ...rbacOf(world),
  ...world.exports.map(each => exportOf(each, world.publications)),
  ...world.publications.flatMap(publicationManifests),
  ...world.apiBindings.map(bindingOf),
  ...world.configMaps.map(({ cluster, namespace, name, labels }) => ({
    cluster,
    resource: resources.configMaps,
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } },
  })),
  ...treeOf(world, informers),
]

const namespacesIn = (cluster: string): readonly Manifest[] =>
  namespaces.map(name => ({
    cluster,
    resource: resources.namespaces,
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  }))

function logicalCluster({ clusters, tree }: World, cluster: string): Manifest {
  const { phase = '', required } = clusters[cluster] ?? {}
  const { initializers = [], terminators = [], isDeleting = false, owner } = tree.lives[cluster] ?? {}
  const annotations = required === undefined ? {} : { 'authorization.kcp.io/required-groups': required }
  const deleted = isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] } : {}
  const object = mirrorLogicalCluster({
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: { name: 'cluster', annotations, ...deleted },
    spec: owner === undefined ? {} : { createdBy: creator(owner) },
    status: { ...(phase !== '' && { phase: phase as 'Ready' }), initializers, terminators },
  } as Parameters<typeof mirrorLogicalCluster>[0])
  return { cluster, resource: resources.logicalClusters, object }
}

const creator = ({ name, ...more }: UserInfo) => ({ username: name, ...more })

const apiGroup = 'rbac.authorization.k8s.io'
const rbac = (kind: string): ResourceRef => ({
  group: apiGroup,
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
})

function rbacOf({ roles, bindings }: World): readonly Manifest[] {
  const made = (kind: string, at: { cluster: string; namespace: string; name: string }, more: object) => {
    const metadata = { name: at.name, ...(at.namespace === '' ? {} : { namespace: at.namespace }) }
    const object = { apiVersion: `${apiGroup}/v1`, kind, metadata, ...more }
    return { cluster: at.cluster, resource: rbac(kind), object }
  }
  return [
    ...roles.map(role => made(role.namespace === '' ? 'ClusterRole' : 'Role', role, { rules: role.rules })),
    ...bindings.map(({ role, subjects, ...at }) =>
      made(at.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', at, {
        roleRef: { apiGroup, ...role },
        subjects,
      }),
    ),
  ]
}

function exportOf(
  { cluster, name, identity, policy, claims }: Export,
  publications: readonly Publication[],
): Manifest {
  const offered = publications.filter(each => each.cluster === cluster)
  const local = { none: {}, local: { maximalPermissionPolicy: { local: {} } } }
  const object: KubeObject = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name },
    spec: { resources: offered.map(offerOf), permissionClaims: claims, ...local[policy] },
    status: { identityHash: identity },
  }
  return { cluster, resource: resources.apiExports, object }
}

function bindingOf({ cluster, name, to, claims, resources: bound }: Bound): Manifest {
  const boundResources = bound.map(({ group, resource, identity }) => ({
    group,
    resource,
    schema: { name: `v1.${resource}.${group}`, UID: `uid-${resource}`, identityHash: identity },
    storageVersions: ['v1'],
  }))
  const object: KubeObject = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name, labels: { [exportLabel]: exportHash(to) } },
    spec: { reference: { export: { path: to.cluster, name: to.name } }, permissionClaims: claims },
    status: { apiExportClusterName: to.cluster, boundResources, phase: 'Bound' },
  }
  return { cluster, resource: resources.apiBindings, object }
}

/** Bindings of the exports of `root`: workspaces and their types, and mounts. */
function rootBindings(informers: Informers, cluster: string): readonly Manifest[] {
  return ['tenancy.kcp.io', 'mounts.contrib.kcp.io'].map(name => {
    const found = rootExport(informers, name)
    const boundResources = found.schemas.map(({ metadata, spec }) => ({
      group: spec.group,
      resource: spec.names.plural,
      schema: { name: metadata.name, UID: metadata.uid, identityHash: found.identity },
      storageVersions: ['v1alpha1'],
    }))
    const object: KubeObject = {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name, labels: { [exportLabel]: exportHash({ cluster: 'root', name }) } },
      spec: { reference: { export: { path: 'root', name } } },
      status: { apiExportClusterName: 'root', boundResources, phase: 'Bound' },
    }
    return { cluster, resource: resources.apiBindings, object }
  })
}

interface Schema extends KubeObject {
  readonly spec: { readonly group: string; readonly names: { readonly plural: string } }
}

interface RootExport extends KubeObject {
  readonly spec: { readonly resources: readonly { readonly schema: string }[] }
  readonly status: { readonly identityHash: string }
}

const schemasRef = { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiresourceschemas' }

function rootExport(informers: Informers, name: string) {
  const inRoot = (ref: ResourceRef, each: string) => informers.for(ref).get('root', '', each)?.object
  const { spec, status } = inRoot(resources.apiExports, name) as RootExport
  const schemas = spec.resources.map(({ schema }) => inRoot(schemasRef, schema) as Schema)
  return { identity: status.identityHash, schemas }
}

function treeOf({ tree }: World, informers: Informers): readonly Manifest[] {
  const stored = (group: string, resource: string): ResourceRef => {
    const { identity } = rootExport(informers, group)
    return { group, version: 'v1alpha1', resource, identity }
  }
  const types = stored('tenancy.kcp.io', 'workspacetypes')
  const workspaces = stored('tenancy.kcp.io', 'workspaces')
  const kubeClusters = stored('mounts.contrib.kcp.io', 'kubeclusters')
  return [
    ...tree.types.map(({ cluster, name, permissions: { initializer, terminator } }) => ({
      cluster,
      resource: types,
      object: {
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'WorkspaceType',
        metadata: { name },
        spec: { initializerPermissions: initializer, terminatorPermissions: terminator },
      },
    })),
    ...tree.workspaces.map(child => ({
      cluster: child.cluster,
      resource: workspaces,
      object: workspaceOf(child),
    })),
    ...tree.kubeClusters.map(({ cluster, name }) => ({
      cluster,
      resource: kubeClusters,
      object: {
        apiVersion: 'mounts.contrib.kcp.io/v1alpha1',
        kind: 'KubeCluster',
        metadata: { name },
        spec: { secretRef: { name: 'nothing' } },
      },
    })),
  ]
}

const ownerAnnotation = 'experimental.tenancy.kcp.io/owner'

function workspaceOf({ name, inside, phase, isMount, creator: username }: Child): KubeObject {
  const ref = { apiVersion: 'mounts.contrib.kcp.io/v1alpha1', kind: 'KubeCluster', name: 'a' }
  return {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: {
      name,
      annotations: username === undefined ? {} : { [ownerAnnotation]: JSON.stringify({ username }) },
    },
    spec: {
      type: { name: 'team', path: 'maker' },
      ...(isMount && { mount: { ref } }),
      ...(!isMount && inside !== '' && { cluster: inside }),
    },
    status: { phase },
  }
}
