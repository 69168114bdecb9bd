import type { Host, Item, UserInfo } from '../../framework/index.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import { exportedResources, ownerAnnotation, type Workspace } from '../../kcp/index.ts'

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
