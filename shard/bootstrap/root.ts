import type { KubeObject } from '../../framework/meta/object.ts'
import {
  logicalClusterFinalizer,
  ownerAnnotation,
  pathAnnotation,
  resourceBindingsAnnotation,
  shardAnnotation,
  typeAnnotation,
} from '../../kcp/annotations.ts'
import { tenancyGroup, topologyGroup } from '../../kcp/apigroups.ts'
import { isTrue, setConditions } from '../../kcp/conditions.ts'
import { phaseLabel } from '../../kcp/labels.ts'
import { localAdminCluster, logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import type { WorkspaceType } from '../../kcp/tenancy.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { identityNamespace } from '../controllers/identity.ts'
import { createOnlyAnnotation, type Manifest, namespace } from '../manifests/manifest.ts'

import { rbacManifests, userBinding } from '../manifests/rbac.ts'
import { rootPolicy, systemPolicy } from './policy.ts'

/** The URLs of the shard of this process, without a trailing slash. */
export interface ShardAddresses {
  readonly name: string
  readonly baseURL: string
  readonly externalURL: string
  readonly virtualWorkspaceURL: string
}

const root = 'root'
const bootstrapper = 'system:kcp-bootstrapper'

/** The objects that belong to each shard. */
export const systemManifests = (): readonly Manifest[] => [
  ...rbacManifests(localAdminCluster, systemPolicy()),
  ...['default', 'kube-system'].map(name => namespace(localAdminCluster, name)),
]

/** All objects in `root` and `system:admin` that belong to no export. */
export const rootManifests = (
  tenancy: TenancyResources,
  shard: ShardAddresses,
  homeCreators: readonly string[],
): readonly Manifest[] => [
  ...systemManifests(),
  ...rbacManifests(root, [
    ...rootPolicy(homeCreators),
    userBinding('workspace-admin', 'cluster-admin', bootstrapper),
  ]),
  ...['default', identityNamespace].map(name => namespace(root, name)),
  rootCluster(shard),
  shardManifest(tenancy, shard),
  ...workspaceTypes.map(object => ({ cluster: root, resource: tenancy.workspaceTypes, object })),
]

const rootCluster = ({ name, externalURL }: ShardAddresses): Manifest => ({
  cluster: root,
  resource: resources.logicalClusters,
  object: {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'LogicalCluster',
    metadata: {
      name: logicalClusterName,
      labels: { [phaseLabel]: 'Ready' },
      annotations: {
        [typeAnnotation]: 'root:root',
        [pathAnnotation]: root,
        [ownerAnnotation]: JSON.stringify({ username: bootstrapper }),
        [shardAnnotation]: name,
        [createOnlyAnnotation]: 'true',
        [resourceBindingsAnnotation]: '{}',
      },
      finalizers: [logicalClusterFinalizer],
    },
    spec: { directlyDeletable: false },
    status: {
      phase: 'Ready',
      URL: `${externalURL}/clusters/${root}`,
      conditions: setConditions([], [isTrue('WorkspaceInitialized')]),
    },
  },
})

const shardManifest = (
  { shards }: TenancyResources,
  { name, baseURL, externalURL, virtualWorkspaceURL }: ShardAddresses,
): Manifest => ({
  cluster: root,
  resource: shards,
  object: {
    apiVersion: 'core.kcp.io/v1alpha1',
    kind: 'Shard',
    metadata: { name, labels: { name } },
    spec: { baseURL, externalURL, virtualWorkspaceURL },
  },
})

const typeIn = (name: string): { path: string; name: string } => ({ path: root, name })
const universal = typeIn('universal')
const extendsUniversal = { extend: { with: [universal] } }

function workspaceType(
  name: string,
  spec: NonNullable<WorkspaceType['spec']>,
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  return {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceType',
    metadata: { name, annotations: { ...annotations, [pathAnnotation]: root } },
    spec: { defaultChildWorkspaceType: universal, ...spec },
  }
}

/** The built-in workspace types (kcp `config/root`). */
const workspaceTypes: readonly KubeObject[] = [
  workspaceType('universal', {
    initializer: true,
    defaultAPIBindings: [
      { path: root, export: tenancyGroup },
      { path: root, export: topologyGroup },
    ],
  }),
  workspaceType(
    'root',
    {
      ...extendsUniversal,
      defaultChildWorkspaceType: typeIn('organization'),
      limitAllowedParents: { none: true },
    },
    { [createOnlyAnnotation]: 'true' },
  ),
  workspaceType('home', { ...extendsUniversal, limitAllowedParents: { none: true } }),
  workspaceType('organization', {
    ...extendsUniversal,
    limitAllowedParents: { types: [typeIn('root')] },
    limitAllowedChildren: { types: [universal] },
  }),
  workspaceType('team', {
    ...extendsUniversal,
    limitAllowedParents: { types: [typeIn('organization'), typeIn('team')] },
  }),
]
