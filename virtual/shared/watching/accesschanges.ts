import type { Host, ItemEvent, ResourceRef } from '../../../framework/index.ts'
import { localAdminCluster, resources } from '../../../kcp/index.ts'

/** Changes of rights by logical cluster. */
export interface AccessChanges {
  /** Whether rights in one of these logical clusters have changed after a version. */
  since(clusters: Iterable<string>, resourceVersion: string): boolean
  /**
   * Calls `changed` with each logical cluster in which rights change. Returns a function that removes the handler.
   */
  follow(changed: (cluster: string) => void): () => void
}

/** The resources that decide about access: RBAC and the phase of the logical cluster. */
const sources: readonly ResourceRef[] = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
  resources.logicalClusters,
]

export function followAccess({ informers }: Host): AccessChanges {
  const last = new Map<string, number>()
  const followers = new Set<(cluster: string) => void>()
  const apply = ({ type, item }: ItemEvent): void => {
    if (type === 'BOOKMARK') return
    const { cluster, resourceVersion } = item.meta
    last.set(cluster, Math.max(last.get(cluster) ?? 0, Number(resourceVersion)))
    for (const changed of followers) changed(cluster)
  }
  for (const source of sources) informers.for(source).onEvent(apply)
  return {
    since(clusters, resourceVersion) {
      const position = Number(resourceVersion)
      if ((last.get(localAdminCluster) ?? 0) > position) return true
      for (const cluster of clusters) if ((last.get(cluster) ?? 0) > position) return true
      return false
    },
    follow(changed) {
      followers.add(changed)
      return () => void followers.delete(changed)
    },
  }
}
