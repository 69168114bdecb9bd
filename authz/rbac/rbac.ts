import type { Action } from '../../framework/contract/authorizer.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { effectiveUsers } from './effectiveusers.ts'
import type { PolicyRule } from './policyrule.ts'
import { type Binding, keysOf, printSubject, type RbacSource } from './rbacsource.ts'

/** The logical cluster whose roles every cluster may refer to, and whose bindings hold in every cluster. */
export const systemAdmin = 'system:admin'

/** The rules of a role: of each object with its name. */
export type RoleRules = readonly (readonly PolicyRule[])[]

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

/** The first wanted grant of the bindings of one cluster. */
export function findGrant(source: RbacSource, holder: RoleHolder, wanted: Wanted): Grant | undefined {
  for (const user of holder.users) {
    const found =
      findIn(keysOf(user), subject => clusterGrant(source, holder, { subject, wanted })) ??
      (holder.namespace === ''
        ? undefined
        : findIn(keysOf(user), subject => namespaceGrant(source, holder, { subject, wanted })))
    if (found !== undefined) return found
  }
  return undefined
}

type Wanted = (grant: Grant) => boolean

interface Search {
  readonly subject: string
  readonly wanted: Wanted
}

function findIn<T>(subjects: readonly string[], find: (subject: string) => T | undefined): T | undefined {
  for (const subject of subjects) {
    const found = find(subject)
    if (found !== undefined) return found
  }
  return undefined
}

function clusterGrant(
  source: RbacSource,
  { cluster }: RoleHolder,
  { subject, wanted }: Search,
): Grant | undefined {
  for (const binding of source.clusterRoleBindings(cluster, subject)) {
    const rules = clusterRoleRules(source, cluster, binding.role.name)
    const grant = { rules, binding, namespace: '', subject }
    if (wanted(grant)) return grant
  }
  return undefined
}

function namespaceGrant(
  source: RbacSource,
  { cluster, namespace }: RoleHolder,
  { subject, wanted }: Search,
): Grant | undefined {
  for (const binding of source.roleBindings(cluster, namespace, subject)) {
    const { kind, name } = binding.role
    const rules =
      kind === 'ClusterRole'
        ? clusterRoleRules(source, cluster, name)
        : roleRules(source, cluster, namespace, name)
    const grant = { rules, binding, namespace, subject }
    if (wanted(grant)) return grant
  }
  return undefined
}

/** All grants of the bindings of one cluster. */
export function grants(source: RbacSource, holder: RoleHolder): readonly Grant[] {
  const all: Grant[] = []
  findGrant(source, holder, grant => {
    all.push(grant)
    return false
  })
  return all
}

/**
 * The rules of ClusterRoles with the same name are merged: a workspace's `cluster-admin` extends that of
 * `system:admin`. undefined: no such role.
 */
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
  const found = findGrant(source, holder, ({ rules, binding }) => {
    if (rules !== undefined) return rules.some(each => source.ruleIndexes.anyAllows(each, action))
    missing = (missing ?? new Set()).add(missingRole(binding))
    return false
  })
  if (found !== undefined) return allowedBy(found)
  return missing === undefined ? nothing : { allowed: false, reason: `RBAC: ${printErrors([...missing])}` }
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

const printErrors = (errors: readonly string[]): string =>
  errors.length === 1 ? errors.join() : `[${errors.join(', ')}]`
