import { type Action, type Authorizer, allow, type Decision, noOpinion } from '../framework/authorizer.ts'
import type { ClusterName } from '../framework/object.ts'
import type { UserInfo } from '../framework/user.ts'
import { type PolicyRule, ruleAllows } from './policyrule.ts'
import type { Binding, RbacSource } from './rbacsource.ts'
import { effectiveUser, keysOf } from './subjects.ts'

/** The logical cluster whose roles every cluster may refer to and whose bindings hold everywhere (chapter 30, section 2.7). */
export const systemAdmin = 'system:admin'

/** What a binding gives, and through what. */
export interface Grant {
  readonly rules: readonly PolicyRule[]
  readonly because: string
}

/** Evaluates roles and bindings of the bootstrap policy and of the request's cluster (chapter 30, step 05). */
export function rbacAuthorizer(source: RbacSource): Authorizer {
  return { authorize: async (user, action) => decide(source, user, action) }
}

function decide(source: RbacSource, user: UserInfo, action: Action): Decision {
  const namespace = action.resource?.namespace ?? ''
  for (const { rules, because } of grants(source, user, action.cluster, namespace))
    if (rules.some(rule => ruleAllows(rule, action))) return allow(because, '05-rbac')
  return noOpinion('RBAC: no rule matched', '05-rbac')
}

/** Everything a user holds in a cluster, and in a namespace of it unless that is ''. Lazily: decisions stop early. */
export function* grants(
  source: RbacSource,
  user: UserInfo,
  cluster: ClusterName,
  namespace: string,
): Generator<Grant> {
  const subjects = keysOf(effectiveUser(user, cluster))
  yield* bootstrapAnd(cluster, owner => clusterGrants(source, owner, subjects))
  if (namespace === '') return
  yield* bootstrapAnd(cluster, owner => namespaceGrants(source, owner, namespace, subjects))
}

function* bootstrapAnd(cluster: ClusterName, of: (owner: ClusterName) => Iterable<Grant>): Iterable<Grant> {
  yield* of(systemAdmin)
  if (cluster !== systemAdmin) yield* of(cluster)
}

function* clusterGrants(
  source: RbacSource,
  cluster: ClusterName,
  subjects: readonly string[],
): Iterable<Grant> {
  for (const subject of subjects)
    for (const binding of source.clusterRoleBindings(cluster, subject))
      yield {
        rules: clusterRoleRules(source, cluster, binding.role.name) ?? [],
        because: because('ClusterRoleBinding', binding, cluster, subject),
      }
}

function* namespaceGrants(
  source: RbacSource,
  cluster: ClusterName,
  namespace: string,
  subjects: readonly string[],
): Iterable<Grant> {
  for (const subject of subjects)
    for (const binding of source.roleBindings(cluster, namespace, subject))
      yield {
        rules: namespacedRules(source, cluster, namespace, binding),
        because: because('RoleBinding', binding, cluster, subject),
      }
}

function namespacedRules(
  source: RbacSource,
  cluster: ClusterName,
  namespace: string,
  { role }: Binding,
): readonly PolicyRule[] {
  if (role.kind === 'ClusterRole') return clusterRoleRules(source, cluster, role.name) ?? []
  return source.role(cluster, namespace, role.name) ?? []
}

/** Rules of equally named roles add up: a workspace's own `cluster-admin` extends the system's. undefined: no such role. */
export function clusterRoleRules(
  source: RbacSource,
  cluster: ClusterName,
  name: string,
): readonly PolicyRule[] | undefined {
  const local = source.clusterRole(cluster, name)
  if (cluster === systemAdmin) return local
  const shared = source.clusterRole(systemAdmin, name)
  return local === undefined || shared === undefined ? (local ?? shared) : [...local, ...shared]
}

function because(kind: string, binding: Binding, cluster: ClusterName, subject: string): string {
  const where = cluster === systemAdmin ? 'bootstrap policy' : `local cluster "${cluster}" policy`
  const [subjectKind] = subject.split('/', 1)
  const subjectName = subject.slice((subjectKind?.length ?? 0) + 1)
  return `${where}: RBAC: allowed by ${kind} "${binding.name}" of ${binding.role.kind} "${binding.role.name}" to ${subjectKind} "${subjectName}"`
}
