import { allow, deny, noOpinion } from '../../framework/contract/authorizer.ts'
import { type ClusterName, isSystemCluster } from '../../framework/meta/object.ts'
import {
  externalLogicalClusterAdmin,
  isLifecycleGroup,
  kcpAdmin,
  logicalClusterAdmin,
  workspaceBootstrapper,
} from '../../kcp/users.ts'
import { isLocalServiceAccount } from '../rbac/effectiveusers.ts'
import { evaluate, systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import { type AuthorizerAttributes, hasNoCluster, inGroup, isDeep } from './attributes.ts'
import { delegate, type Gate, type GateDecision } from './chain.ts'

/** The state of logical clusters that authorization needs, from memory. */
export interface ClusterStates {
  /** `status.phase` of the LogicalCluster, '' when it has none yet; undefined when there is no such cluster. */
  phase(cluster: ClusterName): string | undefined
  /** Its annotation `authorization.kcp.io/required-groups`. */
  requiredGroups(cluster: ClusterName): string | undefined
}

const openPhases = new Set(['Initializing', 'Ready', 'Inactive', 'Terminating', 'Deleting'])
const lifecyclePhases = new Set(['Initializing', 'Terminating', 'Deleting'])

/**
 * Whether the user may enter the workspace: the verb `access` on `/`
 * (`pkg/authorization/workspace_content_authorizer.go` of kcp).
 */
export const workspaceContent = (source: RbacSource, clusters: ClusterStates): Gate => ({
  name: '02-content',
  check: attributes => {
    const { user, action } = attributes
    if (action.resource === undefined && action.path === '/metrics') return delegate('shard-level path')
    if (hasNoCluster(attributes) || isSystemCluster(action.cluster))
      return noOpinion('empty or system workspace')
    if (isDeep(attributes)) return delegate('deep SAR request')
    if (inGroup(attributes, logicalClusterAdmin)) return delegate('logical cluster admin access')
    const closed = closedBy(clusters.phase(action.cluster), user.groups)
    if (closed !== undefined) return closed
    if (isLocalServiceAccount(user, action.cluster)) return delegate('local service account access')
    return hasAccess(source, attributes)
      ? delegate('user logical cluster access')
      : noOpinion('no verb=access permission on /')
  },
})

/** The decision that the phase makes; undefined: the phase makes none. */
function closedBy(phase: string | undefined, groups: readonly string[]): GateDecision | undefined {
  if (phase === undefined) return deny('LogicalCluster not found')
  if (!openPhases.has(phase)) return noOpinion(`not permitted due to phase ${JSON.stringify(phase)}`)
  return lifecyclePhases.has(phase) && groups.some(isLifecycleGroup)
    ? allow('lifecycle VW pre-authorized access')
    : undefined
}

/** Whether ClusterRoleBindings grant the verb `access` on `/`. */
function hasAccess(source: RbacSource, { effective, action: { cluster } }: AuthorizerAttributes): boolean {
  const access = { verb: 'access', cluster, path: '/' }
  const holder = { users: effective, namespace: '' }
  return (
    evaluate(source, { ...holder, cluster: systemAdmin }, access).allowed ||
    evaluate(source, { ...holder, cluster }, access).allowed
  )
}

/**
 * Requires the groups in the annotation of the LogicalCluster, with `;` between alternatives and `,` within one
 * (`pkg/authorization/requiredgroups_authorizer.go` of kcp). Service accounts of the workspace need none; others do,
 * unlike in kcp, which delegates for every service account.
 */
export const requiredGroups = (clusters: ClusterStates): Gate => ({
  name: '01-requiredgroups',
  check: attributes => {
    const { user, action } = attributes
    if (isDeep(attributes)) return delegate('deep SAR request')
    if (hasNoCluster(attributes)) return noOpinion('empty cluster name')
    if (inGroup(attributes, logicalClusterAdmin)) return delegate('logical cluster admin access')
    if (isLocalServiceAccount(user, action.cluster))
      return delegate('service account access to logical cluster')
    if (clusters.phase(action.cluster) === undefined) return noOpinion('logical cluster not found')
    if (inGroup(attributes, externalLogicalClusterAdmin))
      return delegate('external logical cluster admin access')
    const required = clusters.requiredGroups(action.cluster)
    if (required === undefined) return delegate('logical cluster does not require groups')
    return satisfies(attributes, required)
      ? delegate(`user is member of required groups: ${required}`)
      : deny(`user is not a member of required groups: ${required}`)
  },
})

const satisfies = (attributes: AuthorizerAttributes, required: string): boolean =>
  [...required.split(';'), kcpAdmin, workspaceBootstrapper].some(alternative =>
    alternative.split(',').every(group => inGroup(attributes, group)),
  )

const refused: Readonly<Record<string, string>> = {
  apibindings: 'apibinding status updates not permitted',
  apiexports: 'apiexport status updates not permitted',
}

/**
 * Refuses updates of statuses with identities and bound resources, which controllers write
 * (`pkg/authorization/system_crd_authorizer.go` of kcp).
 */
export const systemStatus: Gate = {
  name: '03-systemcrd',
  check: attributes => {
    if (hasNoCluster(attributes)) return noOpinion('empty cluster name')
    const { resource } = attributes.action
    const guarded = resource?.group === 'apis.kcp.io' && resource.subresource === 'status'
    const reason = guarded ? refused[resource.resource] : undefined
    return reason === undefined ? delegate('no system CRD violation') : deny(reason)
  },
}
