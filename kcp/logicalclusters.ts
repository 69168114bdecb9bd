// Logical clusters with fixed names, and the name of the LogicalCluster in each.

export const rootCluster = 'root'
/** The policy that applies in every logical cluster (kcp `LocalAdminCluster`). */
export const localAdminCluster = 'system:admin'
/** Copies of every APIResourceSchema that is bound, as CustomResourceDefinitions (`SystemBoundCRDsClusterName`). */
export const boundCRDsCluster = 'system:bound-crds'
/** Leases between the shards. */
export const shardCluster = 'system:shard'

export const logicalClusterName = 'cluster'
