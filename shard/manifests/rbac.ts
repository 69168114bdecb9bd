import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import type { Manifest } from './manifest.ts'

export const read: readonly string[] = ['get', 'list', 'watch']
export const write: readonly string[] = ['create', 'delete', 'deletecollection', 'patch', 'update']
export const any: readonly string[] = ['*']

/** A rule about resources of one group. */
export const rule = (
  verbs: readonly string[],
  group: string,
  resources: readonly string[],
  resourceNames: readonly string[] = [],
): PolicyRule => ({
  verbs,
  apiGroups: [group],
  resources,
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})

/** A rule about URL paths. */
export const pathRule = (verbs: readonly string[], nonResourceURLs: readonly string[]): PolicyRule => ({
  verbs,
  nonResourceURLs,
})

export const everything: readonly PolicyRule[] = [
  { verbs: any, apiGroups: any, resources: any },
  pathRule(any, any),
]

interface RoleOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly aggregates?: string
}

const apiVersion = 'rbac.authorization.k8s.io/v1'

/** Label and annotation of the default policy of Kubernetes. */
const defaults = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
}

export function clusterRole(
  name: string,
  rules: readonly PolicyRule[],
  options: RoleOptions = {},
): KubeObject {
  const { aggregates, ...metadata } = options
  const selector = { matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${aggregates}`]: 'true' } }
  return {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name, ...metadata },
    ...(aggregates === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [selector] } }),
    rules,
  }
}

/** A role of the default policy; `options.labels` are added. */
export const defaultRole = (
  name: string,
  rules: readonly PolicyRule[],
  options: RoleOptions = {},
): KubeObject =>
  clusterRole(name, rules, { ...options, ...defaults, labels: { ...defaults.labels, ...options.labels } })

const group = (name: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name })

/** Grants a ClusterRole to groups. */
export const groupBinding = (
  name: string,
  role: string,
  groups: readonly string[],
  metadata: RoleOptions = {},
): KubeObject => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name, ...metadata },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: groups.map(group),
})

export const defaultBinding = (name: string, groups: readonly string[]): KubeObject =>
  groupBinding(name, name, groups, defaults)

/** Grants a ClusterRole to one user. */
export const userBinding = (name: string, role: string, user: string): KubeObject => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
})

/** Roles and bindings as manifests of one cluster. */
export const rbacManifests = (cluster: ClusterName, objects: readonly KubeObject[]): readonly Manifest[] =>
  objects.map(object => ({
    cluster,
    resource: object.kind === 'ClusterRole' ? resources.clusterRoles : resources.clusterRoleBindings,
    object,
  }))
