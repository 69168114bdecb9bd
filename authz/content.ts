import { deny, noOpinion } from '../framework/authorizer.ts'
import type { ClusterName } from '../framework/object.ts'
import { delegate, type Gate } from './chain.ts'
import { rbacAuthorizer } from './rbac.ts'
import type { RbacSource } from './rbacsource.ts'
import { isLocalServiceAccount } from './subjects.ts'

/** What authorization must know about logical clusters, from memory. */
export interface ClusterStates {
  /** `status.phase` of the LogicalCluster, '' when it has none yet; undefined when there is no such cluster. */
  phase(cluster: ClusterName): string | undefined
}

const openPhases = new Set(['Initializing', 'Ready', 'Inactive', 'Terminating', 'Deleting'])
const logicalClusterAdmin = 'system:kcp:logical-cluster-admin'

/** Is this user allowed inside the workspace at all (chapter 30, section 2.5): the verb `access` on `/`. */
export function workspaceContent(source: RbacSource, clusters: ClusterStates): Gate {
  const rbac = rbacAuthorizer(source)
  return {
    name: '02-content',
    check: async (user, action, signal) => {
      const { cluster, resource, path } = action
      if (resource === undefined && path === '/metrics') return delegate('shard-level path')
      if (cluster === '' || cluster === '*' || cluster.startsWith('system:'))
        return noOpinion('empty or system workspace')
      if (user.groups.includes(logicalClusterAdmin)) return delegate('logical cluster admin access')
      const phase = clusters.phase(cluster)
      if (phase === undefined) return deny('LogicalCluster not found')
      if (!openPhases.has(phase)) return noOpinion(`not permitted due to phase "${phase}"`)
      if (isLocalServiceAccount(user, cluster)) return delegate('local service account access')
      const access = await rbac.authorize(user, { verb: 'access', cluster, path: '/' }, signal)
      return access.effect === 'allow'
        ? delegate('user logical cluster access')
        : noOpinion('no verb=access permission on /')
    },
  }
}
