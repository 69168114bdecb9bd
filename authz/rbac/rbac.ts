import type { Action } from '../../framework/contract/authorizer.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { effectiveUsers } from './effectiveusers.ts'
import type { PolicyRule } from './policyrule.ts'
import { type Binding, keysOf, printSubject, type RbacSource, type RoleRules } from './rbacsource.ts'

/** The logical cluster whose roles every cluster may refer to, and whose bindings hold in every cluster. */
export const systemAdmin = 'system:admin'

/** The grant of one binding to a user. */
export interface Grant {
  /** undefined: the role does not exist. */
  readonly rules: RoleRules | undefined
  readonly binding: Binding
  /** Of the binding; '' for a ClusterRoleBinding. */
  readonly namespace: string
  /** The subject key of the user that the binding names. */
  readonly subject: string
}

/** The user whose bindings are evaluated. */
export interface RoleHolder {
  /** The effective users, together. */
  readonly users: readonly UserInfo[]
  /** The logical cluster of the bindings. */
  readonly cluster: ClusterName
  /** '': ClusterRoleBindings only. */
  readonly namespace: string
}

/** The grants of the bindings of one cluster: of each user those of the cluster, then those of the namespace. */
export function* grants(
  source: RbacSource,
  { users, cluster, namespace }: RoleHolder,
): Generator<Grant, undefined> {
  for (const user of users) {
    for (const subject of keysOf(user))
      for (const binding of source.clusterRoleBindings(cluster, subject))
        yield { rules: binding.rules, binding, namespace: '', subject }
    if (namespace === '') continue
    for (const subject of keysOf(user))
      for (const binding of source.roleBindings(cluster, namespace, subject))
        yield { rules: binding.rules, binding, namespace, subject }
  }
}

/** The rules of a ClusterRole; undefined: no such role. */
export const clusterRoleRules = (
  source: RbacSource,
  cluster: ClusterName,
  name: string,
): RoleRules | undefined => added(cluster, owner => source.clusterRole(owner, name))

/** Likewise for Roles of a namespace. */
export const roleRules = (
  source: RbacSource,
  cluster: ClusterName,
  namespace: string,
  name: string,
): RoleRules | undefined => added(cluster, owner => source.role(owner, namespace, name))

function added(
  cluster: ClusterName,
  rulesIn: (owner: ClusterName) => readonly PolicyRule[] | undefined,
): RoleRules | undefined {
  const local = rulesIn(cluster)
  const shared = cluster === systemAdmin ? undefined : rulesIn(systemAdmin)
  if (local === undefined) return shared && [shared]
  return shared === undefined ? [local] : [local, shared]
}

/** The decision of the bindings of one cluster about an action. */
export interface RbacVerdict {
  readonly allowed: boolean
  /** The reason: `RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "b" to User "c"`. */
  readonly reason: string
}

/** Evaluates the bindings of one cluster (`RBACAuthorizer.Authorize` of Kubernetes). */
export function evaluate(source: RbacSource, holder: RoleHolder, action: Action): RbacVerdict {
  let missing: Set<string> | undefined
  for (const grant of grants(source, holder)) {
    const { rules, binding } = grant
    if (rules === undefined) missing = (missing ?? new Set()).add(missingRole(binding))
    else if (rules.some(each => source.ruleIndexes.anyAllows(each, action))) return allowedBy(grant)
  }
  return missing === undefined ? nothing : { allowed: false, reason: `RBAC: ${printErrors(missing)}` }
}

/** The reason is printed on first use only. */
const allowedBy = (grant: Grant): RbacVerdict => ({
  allowed: true,
  get reason() {
    return `RBAC: allowed by ${printGrant(grant)}`
  },
})

/** Whether the bindings of `system:admin` and of the logical cluster allow an action, without other checks. */
export function rbacAllows(source: RbacSource, user: UserInfo, action: Action): boolean {
  const users = effectiveUsers(user, action.cluster)
  const namespace = action.resource?.namespace ?? ''
  return [systemAdmin, action.cluster].some(
    cluster => evaluate(source, { users, cluster, namespace }, action).allowed,
  )
}

const nothing: RbacVerdict = { allowed: false, reason: '' }

function printGrant({ binding, namespace, subject }: Grant): string {
  const { name, role } = binding
  const what =
    namespace === ''
      ? `ClusterRoleBinding "${name}"`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  return `${what} of ${role.kind} "${role.name}" to ${printSubject(subject)}`
}

const missingRole = ({ role: { kind, name } }: Binding): string =>
  `${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}" not found`

/** Missing roles that a reason names. */
const mostErrors = 100

function printErrors(errors: ReadonlySet<string>): string {
  const first = [...errors].slice(0, mostErrors)
  const others = errors.size - first.length
  if (others > 0) first.push(`and ${others} others`)
  return first.length === 1 ? first.join() : `[${first.join(', ')}]`
}
