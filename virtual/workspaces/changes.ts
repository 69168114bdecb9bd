import type { Host, ItemEvent, ResourceRef } from '../../framework/index.ts'
import { localAdminCluster, resources } from '../../kcp/index.ts'

/** Where, and up to when, rights have changed. */
export interface AccessChanges {
  /** Has anybody's access to one of these logical clusters changed after a version? */
  since(clusters: Iterable<string>, resourceVersion: string): boolean
  /** Calls with each logical cluster in which rights change from now on. Returns the end of it. */
  follow(changed: (cluster: string) => void): () => void
}

/** What decides who may enter: roles and bindings, and the phase of the logical cluster. */
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
