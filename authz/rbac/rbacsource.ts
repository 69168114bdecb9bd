import { isMembers } from '../../framework/json/values.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { PolicyRule } from './policyrule.ts'
import type { RuleIndexes } from './ruleindex.ts'

/** A RoleBinding or ClusterRoleBinding, with the fields that evaluation needs. */
export interface Binding {
  readonly name: string
  readonly role: { readonly kind: 'ClusterRole' | 'Role'; readonly name: string }
  /** The rules of that role; undefined: it does not exist. */
  readonly rules: RoleRules | undefined
}

/**
 * The rules of a role: of each object with its name. ClusterRoles with the same name are merged: a workspace's `cluster-admin`
 * extends that of `system:admin`. Likewise Roles of a namespace.
 */
export type RoleRules = readonly (readonly PolicyRule[])[]

/**
 * RBAC objects of all logical clusters, in memory. Bindings are indexed by subject (`subjectKey`): the cost of a
 * decision depends on the bindings of its user, not on the size of the cluster.
 */
export interface RbacSource {
  readonly ruleIndexes: Pick<RuleIndexes, 'anyAllows' | 'anyAllowsEveryName'>
  clusterRole(cluster: ClusterName, name: string): readonly PolicyRule[] | undefined
  role(cluster: ClusterName, namespace: string, name: string): readonly PolicyRule[] | undefined
  clusterRoleBindings(cluster: ClusterName, subject: string): Iterable<Binding>
  roleBindings(cluster: ClusterName, namespace: string, subject: string): Iterable<Binding>
}

/** `subjects[]` of a binding. */
export interface RbacSubject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** The key of a subject: `User/alice`, `Group/devs`; a service account has the key of its user. */
export function subjectKey(subject: RbacSubject, bindingNamespace: string): string | undefined {
  if (subject.kind !== 'ServiceAccount')
    return subjectKinds.has(subject.kind) ? keyOf(subject.kind, subject.name) : undefined
  const namespace = subject.namespace || bindingNamespace
  return namespace === '' ? undefined : keyOf('User', `${serviceAccountPrefix}${namespace}:${subject.name}`)
}

/** All subject keys of a user. */
export function keysOf(user: UserInfo): readonly string[] {
  const keys = known.get(user) ?? [
    keyOf('User', user.name),
    ...user.groups.map(group => keyOf('Group', group)),
  ]
  known.set(user, keys)
  return keys
}

/** Cached, because a user is authenticated once and authorized many times. */
const known = new WeakMap<UserInfo, readonly string[]>()

/** A key as printed in reasons: `User "alice"`, `ServiceAccount "robot/default"`. */
export function printSubject(key: string): string {
  const slash = key.indexOf('/')
  const [kind, name] = [key.slice(0, slash), key.slice(slash + 1)]
  if (kind !== 'User' || !name.startsWith(serviceAccountPrefix)) return `${kind} ${JSON.stringify(name)}`
  const [namespace, account] = name.slice(serviceAccountPrefix.length).split(':')
  return `ServiceAccount "${account}/${namespace}"`
}

const subjectKinds = new Set(['User', 'Group'])
const keyOf = (kind: string, name: string): string => `${kind}/${name}`

const serviceAccountPrefix = 'system:serviceaccount:'

export const rbacGroup = 'rbac.authorization.k8s.io'

// Readers of RBAC objects that may not be validated yet: values of the wrong type are ignored.

/** `rules` of a Role or ClusterRole. */
export const rulesIn = (object: KubeObject): readonly PolicyRule[] => records(object.rules).map(ruleIn)

/** `roleRef` of a binding as the authorizer needs it; undefined when it names no role. */
export function bindingIn(object: KubeObject): Omit<Binding, 'rules'> | undefined {
  const ref = record(object.roleRef)
  const kind = ref.kind
  if ((kind !== 'ClusterRole' && kind !== 'Role') || typeof ref.name !== 'string') return undefined
  return { name: object.metadata.name ?? '', role: { kind, name: ref.name } }
}

/** `subjects` of a binding. */
export const subjectsIn = (object: KubeObject): readonly RbacSubject[] =>
  records(object.subjects).map(({ kind, name, namespace }) => ({
    kind: text(kind),
    name: text(name),
    ...(typeof namespace === 'string' ? { namespace } : {}),
  }))

function ruleIn(rule: Fields): PolicyRule {
  return {
    verbs: texts(rule.verbs),
    apiGroups: texts(rule.apiGroups),
    resources: texts(rule.resources),
    resourceNames: texts(rule.resourceNames),
    nonResourceURLs: texts(rule.nonResourceURLs),
  }
}

type Fields = Readonly<Record<string, unknown>>

export const record = (value: unknown): Fields => (isMembers(value) ? value : {})
const records = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isMembers) : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.every(isText) ? value : value.filter(isText)
}

const isText = (value: unknown): value is string => typeof value === 'string'
