import { allow, deny, noOpinion } from '../../framework/contract/authorizer.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { isLifecycleGroup, logicalClusterAdmin } from '../../kcp/users.ts'
import { isLocalServiceAccount } from '../rbac/effectiveusers.ts'
import { evaluate, systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import { type Asking, inGroup, isDeep, isNowhere } from './attributes.ts'
import { delegate, type Gate, type Verdict } from './chain.ts'

/** What authorization must know about logical clusters, from memory. */
export interface ClusterStates {
  /** `status.phase` of the LogicalCluster, '' when it has none yet; undefined when there is no such cluster. */
  phase(cluster: ClusterName): string | undefined
  /** Its annotation `authorization.kcp.io/required-groups`. */
  requiredGroups(cluster: ClusterName): string | undefined
}

const openPhases = new Set(['Initializing', 'Ready', 'Inactive', 'Terminating', 'Deleting'])
const lifecyclePhases = new Set(['Initializing', 'Terminating', 'Deleting'])

/** Is this user allowed inside the workspace at all (chapter 30, section 2.5): the verb `access` on `/`. */
export const workspaceContent = (source: RbacSource, clusters: ClusterStates): Gate => ({
  name: '02-content',
  check: asking => {
    const { user, action } = asking
    if (action.resource === undefined && action.path === '/metrics') return delegate('shard-level path')
    if (isNowhere(asking) || action.cluster.startsWith('system:'))
      return noOpinion('empty or system workspace')
    if (isDeep(asking)) return delegate('deep SAR request')
    if (inGroup(asking, logicalClusterAdmin)) return delegate('logical cluster admin access')
    const closed = closedBy(clusters.phase(action.cluster), user.groups)
    if (closed !== undefined) return closed
    if (isLocalServiceAccount(user, action.cluster)) return delegate('local service account access')
    return hasAccess(source, asking)
      ? delegate('user logical cluster access')
      : noOpinion('no verb=access permission on /')
  },
})

/** What the phase alone decides. */
function closedBy(phase: string | undefined, groups: readonly string[]): Verdict | undefined {
  if (phase === undefined) return deny('LogicalCluster not found')
  if (!openPhases.has(phase)) return noOpinion(`not permitted due to phase ${JSON.stringify(phase)}`)
  return lifecyclePhases.has(phase) && groups.some(isLifecycleGroup)
    ? allow('lifecycle VW pre-authorized access')
    : undefined
}

/** The verb `access` on `/`, by ClusterRoleBindings. */
export function hasAccess(source: RbacSource, { effective, action: { cluster } }: Asking): boolean {
  const access = { verb: 'access', cluster, path: '/' }
  const holder = { users: effective, namespace: '' }
  return (
    evaluate(source, { ...holder, cluster: systemAdmin }, access).allowed ||
    evaluate(source, { ...holder, cluster }, access).allowed
  )
}
