import { deny, noOpinion } from '../../framework/contract/authorizer.ts'
import {
  externalLogicalClusterAdmin,
  kcpAdmin,
  logicalClusterAdmin,
  workspaceBootstrapper,
} from '../../kcp/users.ts'
import { isLocalServiceAccount } from '../rbac/effectiveusers.ts'
import { type Asking, inGroup, isDeep, isNowhere } from './attributes.ts'
import { delegate, type Gate } from './chain.ts'
import type { ClusterStates } from './content.ts'

/**
 * Who may be a member of a workspace at all (chapter 30, section 2.4): the LogicalCluster's annotation names groups,
 * `;` between alternatives and `,` within one. Service accounts of the workspace itself need none; those of others do,
 * unlike in kcp, which lets every service account through.
 */
export const requiredGroups = (clusters: ClusterStates): Gate => ({
  name: '01-requiredgroups',
  check: asking => {
    const { user, action } = asking
    if (isDeep(asking)) return delegate('deep SAR request')
    if (isNowhere(asking)) return noOpinion('empty cluster name')
    if (inGroup(asking, logicalClusterAdmin)) return delegate('logical cluster admin access')
    if (isLocalServiceAccount(user, action.cluster))
      return delegate('service account access to logical cluster')
    if (clusters.phase(action.cluster) === undefined) return noOpinion('logical cluster not found')
    if (inGroup(asking, externalLogicalClusterAdmin)) return delegate('external logical cluster admin access')
    const required = clusters.requiredGroups(action.cluster)
    if (required === undefined) return delegate('logical cluster does not require groups')
    return satisfies(asking, required)
      ? delegate(`user is member of required groups: ${required}`)
      : deny(`user is not a member of required groups: ${required}`)
  },
})

const satisfies = (asking: Asking, required: string): boolean =>
  [...required.split(';'), kcpAdmin, workspaceBootstrapper].some(alternative =>
    alternative.split(',').every(group => inGroup(asking, group)),
  )
