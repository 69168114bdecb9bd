import { noOpinion } from '../../framework/contract/authorizer.ts'
import { isSpecial } from '../../framework/impersonation/impersonate.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { type UserInfo, warrantKey } from '../../framework/request/user.ts'
import { effectiveUsers, isServiceAccount, knownUser, prefixUser } from '../rbac/effectiveusers.ts'
import { evaluate, type RbacVerdict, systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import { type AuthorizerAttributes, isDeep } from './attributes.ts'
import { type Delegation, delegate, type Gate } from './chain.ts'

/** The export of a bound resource, as the binding refers to it. */
export interface BoundExport {
  readonly path: string
  readonly name: string
  /** undefined: there is no such export. */
  readonly cluster?: ClusterName
  /** `spec.maximalPermissionPolicy`: absent, without `local`, or with it. */
  readonly policy: 'none' | 'empty' | 'local'
}

/** The export that a binding refers to; it may be missing. */
export const referenceOf = ({ path, name }: Pick<BoundExport, 'path' | 'name'>): string => `${path}|${name}`

/** The exports of bound resources, from memory. */
export interface BoundExports {
  /** The exports of a resource, by `status.boundResources` of the cluster's APIBindings; usually one or none. */
  of(cluster: ClusterName, group: string, resource: string): readonly BoundExport[]
}

const prefix = 'apis.kcp.io:binding:'

/** The user with the prefix of maximal permission policies. */
export const bindingUser = (user: UserInfo): UserInfo => prefixUser(user, prefix)

/**
 * The maximal permission policy of a bound resource: RBAC in the export's logical cluster, for users and groups with a
 * prefix (`pkg/authorization/maximal_permission_policy_authorizer.go` of kcp). A missing export has no policy.
 */
export const maximalPermissionPolicy = (source: RbacSource, exports: BoundExports): Gate => ({
  name: '04-maxpermissionpolicy',
  check: attributes => {
    if (isDeep(attributes)) return delegate('deep SAR request')
    let granted: Delegation | undefined
    for (const from of boundExports(exports, attributes)) {
      const { allowed, reason } = policyVerdict(source, from, attributes)
      if (!allowed) return noOpinion(reason)
      granted = delegate(reason)
    }
    return granted ?? delegate('no relevant binding found')
  },
})

/**
 * The user in the policy of an export of a logical cluster, which knows its names: in that of the request, its administrator
 * impersonates any group but those of kcp, which stay, as warrants do. Service accounts have their global names.
 */
export function policyUser(user: UserInfo, cluster: ClusterName): UserInfo {
  const known = isServiceAccount(user) ? user : knownUser(user, cluster)
  if (known === user) return bindingUser(user)
  const { [warrantKey]: warrants } = user.extra ?? {}
  const extra = { ...known.extra, ...(warrants && { [warrantKey]: warrants }) }
  const groups = [...new Set([...known.groups, ...user.groups.filter(isSpecial)])]
  return bindingUser({ name: known.name, groups, extra })
}

export const boundExports = (
  exports: BoundExports,
  { action }: AuthorizerAttributes,
): readonly BoundExport[] =>
  action.resource === undefined
    ? []
    : exports.of(action.cluster, action.resource.group, action.resource.resource)

/** The decision of one export. Scopes apply to the cluster of the request, not to that of the export. */
export function policyVerdict(
  source: RbacSource,
  from: BoundExport,
  { user, action }: AuthorizerAttributes,
): RbacVerdict {
  const { path, name, cluster, policy } = from
  if (cluster === undefined) return { allowed: true, reason: `APIExport "${path}":"${name}" not found` }
  const where = `API Export "${cluster}"|"${name}"`
  if (policy === 'none') return { allowed: true, reason: `no maximum permission policy in ${where}` }
  if (policy === 'empty') return { allowed: true, reason: `no local maximum permission policy in ${where}` }
  const users = effectiveUsers(policyUser(user, cluster), action.cluster)
  const namespace = action.resource?.namespace ?? ''
  const own = evaluate(source, { users, cluster, namespace }, action)
  const shared = own.allowed ? own : evaluate(source, { users, cluster: systemAdmin, namespace: '' }, action)
  const { allowed, reason } = shared.allowed ? shared : own
  return { allowed, reason: `API export "${cluster}"|"${name}" policy: ${reason}` }
}
