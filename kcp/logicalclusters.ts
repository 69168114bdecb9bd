import type { Item } from '../framework/contract/item.ts'
import type { ClusterName } from '../framework/meta/object.ts'

// Logical clusters with fixed names, and the name of the LogicalCluster in each.

export const rootCluster = 'root'
/** The policy that applies in every logical cluster (kcp `LocalAdminCluster`). */
export const localAdminCluster = 'system:admin'
/** Copies of every APIResourceSchema that is bound, as CustomResourceDefinitions (`SystemBoundCRDsClusterName`). */
export const boundCRDsCluster = 'system:bound-crds'
/** Leases between the shards. */
export const shardCluster = 'system:shard'

/** The name of every LogicalCluster (`corev1alpha1.LogicalClusterName`). */
export const logicalClusterName = 'cluster'

/**
 * The logical cluster of the objects found by a path; undefined for several: none of them is preferred, because only one can be the
 * workspace of that path.
 */
export function onlyCluster(found: readonly Item[]): ClusterName | undefined {
  const cluster = found[0]?.key.cluster
  return found.every(({ key }) => key.cluster === cluster) ? cluster : undefined
}
