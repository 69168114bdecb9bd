import type { Action } from '../framework/authorizer.ts'
import type { ClusterName } from '../framework/object.ts'
import type { UserInfo } from '../framework/user.ts'
import { type PolicyRule, ruleAllows } from './policyrule.ts'
import type { Binding, RbacSource } from './rbacsource.ts'
import { keysOf, printSubject } from './subjects.ts'

/** The logical cluster whose roles every cluster may refer to and whose bindings hold everywhere (chapter 30, section 2.7). */
export const systemAdmin = 'system:admin'

/** What a binding gives somebody. */
export interface Grant {
  /** undefined: the role does not exist. */
  readonly rules: readonly PolicyRule[] | undefined
  readonly binding: Binding
  /** Of the binding; '' for a ClusterRoleBinding. */
  readonly namespace: string
  /** By which of the user's keys it was found. */
  readonly subject: string
}

/** Whose bindings are asked. */
export interface Holder {
  /** The identities that count, together. */
  readonly users: readonly UserInfo[]
  /** Where the bindings are. */
  readonly cluster: ClusterName
  /** '': only what holds in all namespaces. */
  readonly namespace: string
}

/** Everything somebody holds by the bindings of one cluster. Lazily: decisions stop early. */
export function* grants(source: RbacSource, holder: Holder): Generator<Grant> {
  for (const user of holder.users) {
    const subjects = keysOf(user)
    for (const subject of subjects) yield* clusterGrants(source, holder, subject)
    if (holder.namespace === '') continue
    for (const subject of subjects) yield* namespaceGrants(source, holder, subject)
  }
}

function* clusterGrants(source: RbacSource, { cluster }: Holder, subject: string): Iterable<Grant> {
  for (const binding of source.clusterRoleBindings(cluster, subject))
    yield { rules: clusterRoleRules(source, cluster, binding.role.name), binding, namespace: '', subject }
}

function* namespaceGrants(source: RbacSource, holder: Holder, subject: string): Iterable<Grant> {
  const { cluster, namespace } = holder
  for (const binding of source.roleBindings(cluster, namespace, subject)) {
    const { kind, name } = binding.role
    const rules =
      kind === 'ClusterRole'
        ? clusterRoleRules(source, cluster, name)
        : roleRules(source, cluster, namespace, name)
    yield { rules, binding, namespace, subject }
  }
}

/** Rules of equally named roles add up: a workspace's own `cluster-admin` extends the system's. undefined: no such role. */
export const clusterRoleRules = (
  source: RbacSource,
  cluster: ClusterName,
  name: string,
): readonly PolicyRule[] | undefined => added(cluster, owner => source.clusterRole(owner, name))

/** Likewise for Roles of a namespace. */
export const roleRules = (
  source: RbacSource,
  cluster: ClusterName,
  namespace: string,
  name: string,
): readonly PolicyRule[] | undefined => added(cluster, owner => source.role(owner, namespace, name))

function added(
  cluster: ClusterName,
  rulesIn: (owner: ClusterName) => readonly PolicyRule[] | undefined,
): readonly PolicyRule[] | undefined {
  const local = rulesIn(cluster)
  if (cluster === systemAdmin) return local
  const shared = rulesIn(systemAdmin)
  return local === undefined || shared === undefined ? (local ?? shared) : [...local, ...shared]
}

/** What the bindings of one cluster say of an action. */
export interface RbacVerdict {
  readonly allowed: boolean
  /** In Kubernetes' words: `RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "b" to User "c"`. */
  readonly reason: string
}

/** Evaluates the bindings of one cluster for somebody, Kubernetes' way. */
export function evaluate(source: RbacSource, holder: Holder, action: Action): RbacVerdict {
  const missing = new Set<string>()
  for (const grant of grants(source, holder)) {
    if (grant.rules === undefined) missing.add(missingRole(grant.binding))
    else if (grant.rules.some(rule => ruleAllows(rule, action))) return allowedBy(grant)
  }
  return missing.size === 0 ? nothing : { allowed: false, reason: `RBAC: ${printErrors([...missing])}` }
}

/** Who only asks whether pays nothing for the words. */
const allowedBy = (grant: Grant): RbacVerdict => ({
  allowed: true,
  get reason() {
    return `RBAC: allowed by ${printGrant(grant)}`
  },
})

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
