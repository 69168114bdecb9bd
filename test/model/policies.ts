import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { RbacSubject } from '../../authz/rbac/rbacsource.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { rootPolicy, systemPolicy } from '../../shard/bootstrap/policy.ts'
import type { Random } from './random.ts'
import { groups, paths, people, prefix, resources, teams, verbs } from './vocabulary.ts'
import { names, namespaces, type Rbac, type Role, type RoleBinding, systemAdmin } from './world.ts'

export function startingPolicy(): Rbac {
  const all = [rbacOf(systemAdmin, systemPolicy()), rbacOf('root', rootPolicy(['system:authenticated']))]
  return { roles: all.flatMap(({ roles }) => roles), bindings: all.flatMap(({ bindings }) => bindings) }
}

function rbacOf(cluster: string, objects: readonly KubeObject[]): Rbac {
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole')
  const bindings = objects.filter(({ kind }) => kind === 'ClusterRoleBinding')
  const place = { cluster, namespace: '' }
  return {
    roles: roles.map(({ metadata: { name = '' }, rules }) => ({
      ...place,
      name,
      rules: rules as PolicyRule[],
    })),
    bindings: bindings.map(({ metadata: { name = '' }, roleRef, subjects }) => {
      const role = { kind: 'ClusterRole', name: (roleRef as { name: string }).name } as const
      return { ...place, name, role, subjects: subjects as RbacSubject[] }
    }),
  }
}

export function ruleOf(random: Random): PolicyRule {
  const some = (from: readonly string[]): readonly string[] => [random.pick(from), ...random.some(from, 1)]
  if (random.chance(0.25))
    return { verbs: some([...verbs, 'access', 'access']), nonResourceURLs: some(paths) }
  const resourceNames = random.chance(0.2) ? some(['a', 'b', 'widgets']) : []
  return { verbs: some(verbs), apiGroups: some(groups), resources: some(resources), resourceNames }
}

export function rbacIn(random: Random, cluster: string): Rbac {
  // The ClusterRole `view` of the system is fixed; a workspace may add another one of the same name.
  const possible = cluster === systemAdmin ? ['r1', 'r2', 'later'] : ['r1', 'r2', 'view', 'later']
  const clusterRoles = possible.filter(() => random.chance(0.6))
  const roles = namespaces.flatMap(namespace => ['l1', 'l2'].map(name => ({ namespace, name })))
  const makeRole = (place: { namespace: string; name: string }): Role => ({
    cluster,
    ...place,
    rules: [ruleOf(random), ...random.some([0, 1], 2).map(() => ruleOf(random))],
  })
  const count = cluster === systemAdmin ? 1 : 7
  return {
    roles: [
      ...clusterRoles.map(name => makeRole({ namespace: '', name })),
      ...roles.filter(() => random.chance(0.5)).map(makeRole),
    ],
    bindings: Array.from({ length: count }, (_, i) => bindingIn(random, cluster, i)),
  }
}

const wellKnown = [
  'cluster-admin',
  'view',
  'system:kcp:workspace:access',
  'system:kcp:workspace:access',
  'edit',
]

function bindingIn(random: Random, cluster: string, index: number): RoleBinding {
  const namespace = cluster !== systemAdmin && random.chance(0.3) ? random.pick(namespaces) : ''
  const local = namespace !== '' && random.chance(0.5)
  const kind = local ? 'Role' : 'ClusterRole'
  const known = cluster === systemAdmin ? ['r1', 'r2'] : [...wellKnown, 'r1', 'r2', 'view', 'later']
  const name = random.pick(local ? ['l1', 'l2'] : known)
  const subjects = [subjectOf(random), ...random.some([0], 1).map(() => subjectOf(random))]
  return { cluster, namespace, name: `b${index}`, role: { kind, name }, subjects }
}

export function subjectOf(random: Random): RbacSubject {
  const marked = random.chance(0.3) ? prefix : ''
  const cluster = random.pick(names)
  const user = (name: string): RbacSubject => ({ kind: 'User', name: marked + name })
  const group = (name: string): RbacSubject => ({ kind: 'Group', name: marked + name })
  return random.pick<() => RbacSubject>([
    () => user(random.pick(people)),
    () => user(random.pick(people)),
    () => group(random.pick(teams)),
    () => group('system:authenticated'),
    () => group(`system:cluster:${cluster}`),
    () => user(`system:kcp:serviceaccount:${cluster}:ns1:robot`),
    () => ({ kind: 'ServiceAccount', name: 'robot', namespace: 'ns1' }),
    () => ({ kind: 'ServiceAccount', name: 'robot' }),
    () => group('system:serviceaccounts'),
    () => user('system:anonymous'),
  ])()
}
