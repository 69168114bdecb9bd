import type { Action, Decision } from '../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import type { ResourceRequest } from '../../framework/request/requestinfo.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { systemPolicy } from '../../shard/bootstrap/policy.ts'
import { testContext } from '../../test/support/context.ts'
import { createAuthorizer } from '../chain/authorizer.ts'
import type { BoundExport } from '../chain/maximalpolicy.ts'
import { type AuthorizationSources, createStamps } from '../chain/memory.ts'
import type { PolicyRule } from '../rbac/policyrule.ts'
import { createRbacIndex, type RbacIndex } from '../rbac/rbacindex.ts'
import { type RbacSubject, rbacGroup } from '../rbac/rbacsource.ts'

/** RBAC of a few logical clusters, with the real index and the real bootstrap policy in `system:admin`. */
export interface Fixture {
  readonly rbac: RbacIndex
  readonly sources: AuthorizationSources
  readonly authorizer: ReturnType<typeof createAuthorizer>
  put(cluster: ClusterName, object: KubeObject): void
  remove(cluster: ClusterName, object: KubeObject): void
  decide(user: UserInfo, action: Action): Promise<Decision>
  allows(user: UserInfo, action: Action): Promise<boolean>
}

const resourceOf = {
  ClusterRole: 'clusterroles',
  Role: 'roles',
  ClusterRoleBinding: 'clusterrolebindings',
  RoleBinding: 'rolebindings',
} as const

export interface FixtureOptions {
  readonly phases?: Readonly<Record<ClusterName, string>>
  /** The annotation `authorization.kcp.io/required-groups`, by cluster. */
  readonly requiredGroups?: Readonly<Record<ClusterName, string>>
  /** By `<cluster>/<group>/<resource>`. */
  readonly exports?: Readonly<Record<string, readonly BoundExport[]>>
}

export function createFixture(options: FixtureOptions = {}): Fixture {
  const { phases = { ws: 'Ready', other: 'Ready' }, requiredGroups = {}, exports = {} } = options
  const stamps = createStamps()
  const rbac = createRbacIndex(stamps.changed)
  const stored = new Map<string, Item>()
  const sources: AuthorizationSources = {
    rbac,
    clusters: { phase: cluster => phases[cluster], requiredGroups: cluster => requiredGroups[cluster] },
    exports: { of: (...place) => exports[place.join('/')] ?? [] },
  }
  const authorizer = createAuthorizer({ ...sources, stamps })
  const { signal } = new AbortController()
  const change = (type: 'PUT' | 'DELETED', cluster: ClusterName, object: KubeObject): void => {
    const item = itemOf(object, cluster)
    const id = JSON.stringify([object.kind, item.key])
    const previous = stored.get(id)
    stored.set(id, item)
    const resource = resourceOf[object.kind as keyof typeof resourceOf]
    const changed =
      previous === undefined ? ({ type: 'ADDED' } as const) : ({ type: 'MODIFIED', previous } as const)
    rbac.apply(resource, type === 'DELETED' ? { type, item: previous ?? item } : { ...changed, item })
  }
  for (const object of systemPolicy()) change('PUT', 'system:admin', object)
  const decide = (user: UserInfo, action: Action): Promise<Decision> =>
    authorizer.authorize(user, action, signal)
  return {
    rbac,
    sources,
    authorizer,
    put: (cluster, object) => change('PUT', cluster, object),
    remove: (cluster, object) => change('DELETED', cluster, object),
    decide,
    allows: async (user, action) => (await decide(user, action)).effect === 'allow',
  }
}

const apiVersion = `${rbacGroup}/v1`

export const clusterRole = (name: string, ...rules: PolicyRule[]): KubeObject => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})

export const role = (namespace: string, name: string, ...rules: PolicyRule[]): KubeObject => ({
  apiVersion,
  kind: 'Role',
  metadata: { name, namespace },
  rules,
})

const bound = (name: string, subjects: readonly RbacSubject[]) => ({
  roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
  subjects,
})

export const clusterBinding = (name: string, ...subjects: RbacSubject[]): KubeObject => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name: `${name}-binding` },
  ...bound(name, subjects),
})

/** A RoleBinding of a ClusterRole, or of a Role when the name is `role/<name>`. */
export const binding = (namespace: string, name: string, ...subjects: RbacSubject[]): KubeObject => {
  const local = name.startsWith('role/')
  const roleName = local ? name.slice('role/'.length) : name
  const roleRef = { apiGroup: rbacGroup, kind: local ? 'Role' : 'ClusterRole', name: roleName }
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: `${roleName}-binding`, namespace },
    roleRef,
    subjects,
  }
}

export const userNamed = (name: string): RbacSubject => ({ kind: 'User', name })
export const groupNamed = (name: string): RbacSubject => ({ kind: 'Group', name })

export const user = (name: string, ...groups: string[]): UserInfo => ({
  name,
  groups: [...groups, 'system:authenticated'],
})

/** `get core/pods/log ns1/a` in a cluster: verb, group/resource[/subresource], [namespace/]name. */
export function action(text: string, cluster = 'ws'): Action {
  const [verb = '', kind = '', object = ''] = text.split(' ')
  if (kind.startsWith('/')) return { verb, cluster, path: kind }
  const [group = '', resource = '', subresource = ''] = kind.split('/')
  const [namespace, name] = object.includes('/') ? object.split('/') : ['', object]
  return {
    verb,
    cluster,
    resource: {
      group: group === 'core' ? '' : group,
      version: 'v1',
      resource,
      subresource,
      namespace: namespace ?? '',
      name: name ?? '',
    },
  }
}

/** A request context of a user for an RBAC or review resource, with the fields that storages and admission read. */
export const contextOf = (user: UserInfo, info: Partial<ResourceRequest>, cluster = 'ws'): RequestContext =>
  testContext({
    cluster,
    user,
    info: { verb: 'create', group: rbacGroup, version: 'v1', resource: '', path: '', ...info },
  })
