import type { ResourceRef } from '../framework/contract/backend.ts'
import type { ClusterName, GroupVersionResource } from '../framework/meta/object.ts'
import { apisGroup, cacheGroup, coreGroup, tenancyGroup, topologyGroup, viewsGroup } from './apigroups.ts'

const ref = (group: string, version: string, resource: string): ResourceRef => ({ group, version, resource })

/** Resources that every workspace has without binding them. */
export const resources = {
  apiExports: ref(apisGroup, 'v1alpha2', 'apiexports'),
  apiBindings: ref(apisGroup, 'v1alpha2', 'apibindings'),
  apiResourceSchemas: ref(apisGroup, 'v1alpha1', 'apiresourceschemas'),
  endpointSlices: ref(apisGroup, 'v1alpha1', 'apiexportendpointslices'),
  clusterCachedResources: ref(cacheGroup, 'v1alpha1', 'clustercachedresources'),
  cachedResourceSlices: ref(cacheGroup, 'v1alpha1', 'clustercachedresourceendpointslices'),
  logicalClusters: ref(coreGroup, 'v1alpha1', 'logicalclusters'),
  crds: ref('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
  namespaces: ref('', 'v1', 'namespaces'),
  secrets: ref('', 'v1', 'secrets'),
  configMaps: ref('', 'v1', 'configmaps'),
  resourceQuotas: ref('', 'v1', 'resourcequotas'),
  serviceAccounts: ref('', 'v1', 'serviceaccounts'),
  clusterRoles: ref('rbac.authorization.k8s.io', 'v1', 'clusterroles'),
  clusterRoleBindings: ref('rbac.authorization.k8s.io', 'v1', 'clusterrolebindings'),
  roles: ref('rbac.authorization.k8s.io', 'v1', 'roles'),
  roleBindings: ref('rbac.authorization.k8s.io', 'v1', 'rolebindings'),
  leases: ref('coordination.k8s.io', 'v1', 'leases'),
  views: ref(viewsGroup, 'v1alpha1', 'views'),
} as const

/** Resources that exports of `root` provide: stored under the export's identity, which a ref to them needs. */
export const exportedResources = {
  workspaces: ref(tenancyGroup, 'v1alpha1', 'workspaces'),
  workspaceTypes: ref(tenancyGroup, 'v1alpha1', 'workspacetypes'),
  partitions: ref(topologyGroup, 'v1alpha1', 'partitions'),
  partitionSets: ref(topologyGroup, 'v1alpha1', 'partitionsets'),
  shards: ref(coreGroup, 'v1alpha1', 'shards'),
} as const

/** Reviews of Kubernetes that servers of an installation send each other. */
export const reviews = {
  tokenReviews: ref('authentication.k8s.io', 'v1', 'tokenreviews'),
  subjectAccessReviews: ref('authorization.k8s.io', 'v1', 'subjectaccessreviews'),
} as const

/** `/clusters/<cluster>/apis/<group>/<version>/<resource>[/<name>]`: the path of a resource or of an object on the server of a logical cluster. */
export function resourcePath(
  cluster: ClusterName,
  { group, version, resource }: GroupVersionResource,
  name?: string,
): string {
  const path = `/clusters/${cluster}/${group === '' ? 'api' : `apis/${group}`}/${version}/${resource}`
  return name === undefined ? path : `${path}/${name}`
}

/** The export of `root` that provides Shards; the other exports of `root` are named after their group. */
export const shardsExport = 'shards.core.kcp.io'

/** Whether every workspace has the resource of kcp without binding it. */
export const isServedEverywhere = (group: string, resource: string): boolean =>
  group === apisGroup || group === cacheGroup || (group === coreGroup && resource === 'logicalclusters')
