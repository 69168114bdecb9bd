import type { Host, Item, ItemEvent, ResourceRef, UserInfo } from '../../framework/index.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import {
  exportedResources,
  localAdminCluster,
  ownerAnnotation,
  resources,
  type Workspace,
} from '../../kcp/index.ts'

/** The logical cluster of a workspace; undefined before it is scheduled. */
export const clusterOf = ({ object }: Item): string | undefined =>
  (object as Workspace).spec?.cluster || undefined

/**
 * Whether the user can access a workspace or update it in its parent. Before it is ready, its creator has access.
 * Mounted workspaces need access to their parent.
 */
export async function isOwn(
  { backend, otherShards }: Host,
  user: UserInfo,
  item: Item,
  signal: AbortSignal,
): Promise<boolean> {
  if (isPrivileged(user)) return true
  const { spec, status } = item.object as Workspace
  const isMade =
    status?.phase !== undefined && status.phase !== 'Scheduling' && status.phase !== 'Initializing'
  if (!isMade && creatorOf(item) === user.name) return true
  const inside = spec?.mount === undefined ? clusterOf(item) : item.key.cluster
  const { authorizer } = backend
  if (inside !== undefined && otherShards?.has(inside)) {
    if (await otherShards.mayAccess(user, inside)) return true
  } else if (inside !== undefined) {
    const entering = await authorizer.authorize(user, { verb: 'access', cluster: inside, path: '/' }, signal)
    if (entering.effect === 'allow') return true
  }
  const managing = await authorizer.authorize(user, { verb: 'update', ...target(item) }, signal)
  return managing.effect === 'allow'
}

const target = ({ key }: Item) => ({
  cluster: key.cluster,
  resource: {
    ...exportedResources.workspaces,
    subresource: '',
    namespace: '',
    name: key.name,
  },
})

function creatorOf({ meta }: Item): string | undefined {
  try {
    return (JSON.parse(meta.annotations[ownerAnnotation] ?? '{}') as { username?: string }).username
  } catch {
    return undefined
  }
}

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
