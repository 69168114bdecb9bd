// kcp's vocabulary, for views. Append; one export per line of origin.

export { clusterAnnotation, logicalClusterOf, ownerAnnotation, pathAnnotation } from './annotations.ts'
export { apisGroup, cacheGroup, coreGroup, tenancyGroup, viewsGroup } from './apigroups.ts'
export type { APIBinding, APIExport, APIExportEndpointSlice, ExportedResource } from './apis.ts'
export type { ClusterCachedResource, ClusterCachedResourceEndpointSlice } from './cache.ts'
export type {
  AcceptablePermissionClaim,
  ClaimedResource,
  PermissionClaim,
  PermissionClaimSelector,
} from './claims.ts'
export { type Condition, type ConditionState, isFalse, isTrue, setConditions } from './conditions.ts'
export type { LogicalCluster } from './core.ts'
export {
  claimLabelKey,
  claimLabelValue,
  exportHash,
  exportLabel,
  initializerLabel,
  phaseLabel,
  reflexiveClaimValue,
  terminatorLabel,
  unlistedClaimValue,
} from './labels.ts'
export { localAdminCluster, logicalClusterName, rootCluster } from './logicalclusters.ts'
export { creatorOf, readOwner } from './owner.ts'
export { printPublished, readingVerbs, viewsOffered } from './publishing.ts'
export type { ExportReference } from './references.ts'
export { exportedResources, resourcePath, resources } from './resources.ts'
export { requirementsOf } from './selector.ts'
export type { VirtualWorkspaceUrl, Workspace, WorkspaceType } from './tenancy.ts'
export {
  clusterNameKey,
  externalLogicalClusterAdmin,
  kcpAdmin,
  scopesKey,
  warrantKey,
} from './users.ts'
