import type { PolicyRule } from '../../authz/policyrule.ts'
import type { Subject } from '../../authz/subjects.ts'
import type { Action } from '../../framework/authorizer.ts'
import type { KubeObject } from '../../framework/object.ts'
import type { UserInfo } from '../../framework/user.ts'
import { rootPolicy, systemPolicy } from '../../shard/bootstrap/policy.ts'
import { type Publication, publicationsIn } from './publications.ts'
import type { Random } from './random.ts'
import { createTree, type Tree, treeRbac } from './tree.ts'

/** A few logical clusters and everything that says who may do what in them, as plain lists. */
export interface World {
  /** Those that exist, by name. */
  readonly clusters: Readonly<Record<string, { readonly phase: string; readonly required?: string }>>
  readonly roles: readonly Role[]
  readonly bindings: readonly RoleBinding[]
  /** What every server starts with. */
  readonly policy: Rbac
  readonly exports: readonly Export[]
  readonly apiBindings: readonly Bound[]
  readonly configMaps: readonly ConfigMap[]
  readonly tree: Tree
  readonly publications: readonly Publication[]
}

export interface Rbac {
  readonly roles: readonly Role[]
  readonly bindings: readonly RoleBinding[]
}

export interface Role {
  readonly cluster: string
  /** '': a ClusterRole. */
  readonly namespace: string
  readonly name: string
  readonly rules: readonly PolicyRule[]
}

export interface RoleBinding {
  readonly cluster: string
  /** '': a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: { readonly kind: 'ClusterRole' | 'Role'; readonly name: string }
  readonly subjects: readonly Subject[]
}

export interface Claim {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly identityHash?: string
}

export interface Export {
  readonly cluster: string
  readonly name: string
  readonly identity: string
  readonly policy: 'none' | 'local'
  readonly claims: readonly Claim[]
}

export interface AcceptedClaim extends Claim {
  readonly state: 'Accepted' | 'Rejected'
  readonly selector: { readonly matchAll?: true; readonly matchLabels?: Readonly<Record<string, string>> }
}

export interface Bound {
  readonly cluster: string
  readonly name: string
  readonly to: { readonly cluster: string; readonly name: string }
  readonly resources: readonly {
    readonly group: string
    readonly resource: string
    readonly identity: string
  }[]
  readonly claims: readonly AcceptedClaim[]
}

export interface ConfigMap {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

export const systemAdmin = 'system:admin'
export const consumers = ['one', 'two', 'three'] as const
export const providers = ['maker', 'seller'] as const
const names = [...consumers, ...providers]
export const everywhere = [...names, 'root', 'nowhere', systemAdmin, '*'] as const
export const namespaces = ['ns1', 'ns2'] as const

const phases = [
  'Ready',
  'Ready',
  'Ready',
  'Initializing',
  'Initializing',
  'Inactive',
  'Terminating',
  'Deleting',
  'Scheduling',
  '',
]
const required = ['dev', 'dev,ops', 'dev,ops', 'dev,ops;qa', '']
const groups = ['', 'example.com', 'apis.kcp.io', '*']
const resources = [
  'configmaps',
  'secrets',
  'widgets',
  'gadgets',
  'widgets/status',
  '*/status',
  'apiexports/content',
  'apibindings',
  '*',
]
const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'bind',
  '*',
  '*',
]
const paths = ['/', '/', '/metrics', '/healthz', '/apis', '/apis/*', '/api*', '*']
const prefix = 'apis.kcp.io:binding:'
const people = ['ann', 'bob', 'cat']
const teams = ['dev', 'ops', 'qa']
const specialGroups = [
  'system:kcp:admin',
  'system:kcp:logical-cluster-admin',
  'system:kcp:external-logical-cluster-admin',
  'system:kcp:tenancy:workspace-bootstrapper',
  'system:kcp:initializer:root:universal',
]

export function createWorld(random: Random): World {
  const existing = names.filter(() => random.chance(0.95))
  const clusters = Object.fromEntries(
    existing.map(name => {
      const phase = random.pick(phases)
      return [name, random.chance(0.45) ? { phase, required: random.pick(required) } : { phase }]
    }),
  )
  const exports = providers.filter(p => existing.includes(p)).flatMap(cluster => exportsIn(random, cluster))
  const rbac = [...existing, systemAdmin].flatMap(cluster => rbacIn(random, cluster))
  const forTree = existing.flatMap(cluster => treeRbac(random, cluster))
  const all = [...rbac, ...forTree]
  return {
    clusters: { ...clusters, root: { phase: 'Ready' } },
    roles: all.flatMap(each => each.roles),
    bindings: all.flatMap(each => each.bindings),
    policy: startingPolicy(),
    exports,
    apiBindings: existing.flatMap(cluster => apiBindingsIn(random, cluster, exports)),
    configMaps: existing.flatMap(cluster => configMapsIn(random, cluster)),
    tree: createTree(random, existing),
    publications: publicationsIn(
      random,
      providers.filter(each => existing.includes(each)),
    ),
  }
}

function startingPolicy(): Rbac {
  const all = [rbacOf(systemAdmin, systemPolicy()), rbacOf('root', rootPolicy())]
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
      return { ...place, name, role, subjects: subjects as Subject[] }
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

function rbacIn(random: Random, cluster: string): Rbac {
  // `view` of the system is what it is; a workspace may have one of its own besides.
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

export function subjectOf(random: Random): Subject {
  const marked = random.chance(0.3) ? prefix : ''
  const cluster = random.pick(names)
  const user = (name: string): Subject => ({ kind: 'User', name: marked + name })
  const group = (name: string): Subject => ({ kind: 'Group', name: marked + name })
  return random.pick<() => Subject>([
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

const claimVerbs = [['*'], ['get', 'list'], ['get', 'list', 'create', 'update'], ['create', 'delete']]

function exportsIn(random: Random, cluster: string): readonly Export[] {
  const claims = (): readonly Claim[] => {
    const all: readonly Claim[] = [
      { group: '', resource: 'configmaps', verbs: random.pick(claimVerbs) },
      { group: '', resource: 'secrets', verbs: random.pick(claimVerbs) },
      {
        group: 'example.com',
        resource: 'gadgets',
        verbs: random.pick(claimVerbs),
        identityHash: random.pick(['id-maker', 'id-seller', 'id-nobody']),
      },
      { group: 'apis.kcp.io', resource: 'apibindings', verbs: random.pick(claimVerbs) },
    ]
    return all.filter(() => random.chance(0.6))
  }
  const policy = random.pick(['none', 'local'] as const)
  return [{ cluster, name: 'widgets', identity: `id-${cluster}`, policy, claims: claims() }]
}

function apiBindingsIn(random: Random, cluster: string, exports: readonly Export[]): readonly Bound[] {
  return exports
    .filter(() => random.chance(0.7))
    .map((to): Bound => {
      const identity = random.chance(0.9) ? to.identity : 'id-other'
      const resource = to.cluster === 'maker' ? 'widgets' : 'gadgets'
      const served = [
        ...(random.chance(0.9) ? [{ group: 'example.com', resource, identity }] : []),
        ...(random.chance(0.7)
          ? [{ group: 'example.com', resource: 'regions', identity: `published-${to.cluster}` }]
          : []),
      ]
      const claims = to.claims.filter(() => random.chance(0.8)).map(claim => acceptedOf(random, claim))
      return {
        cluster,
        name: `to-${to.cluster}`,
        to: { cluster: to.cluster, name: to.name },
        resources: served,
        claims,
      }
    })
}

function acceptedOf(random: Random, claim: Claim): AcceptedClaim {
  const { identityHash, ...plain } = claim
  const other = identityHash !== undefined && random.chance(0.2) ? { identityHash: 'id-other' } : claim
  return {
    ...plain,
    ...(other.identityHash === undefined ? {} : { identityHash: other.identityHash }),
    verbs: random.chance(0.7) ? claim.verbs : random.pick(claimVerbs),
    state: random.chance(0.8) ? 'Accepted' : 'Rejected',
    selector: random.chance(0.6)
      ? { matchAll: true }
      : { matchLabels: { tier: random.pick(['front', 'back']) } },
  }
}

const configMapsIn = (random: Random, cluster: string): readonly ConfigMap[] =>
  ['a', 'b', 'c'].map(name => ({
    cluster,
    namespace: random.pick(namespaces),
    name,
    labels: random.chance(0.7) ? { tier: random.pick(['front', 'back']) } : {},
  }))

/** Somebody: a person, a service account or nobody, with what tokens and proxies may add. */
export function createUser(random: Random): UserInfo {
  const known = random.chance(0.85)
  const robot = random.chance(0.25)
  const name = !known ? 'system:anonymous' : robot ? 'system:serviceaccount:ns1:robot' : random.pick(people)
  const own = robot ? ['system:serviceaccounts', 'system:serviceaccounts:ns1'] : random.some(teams, 2)
  const special = random.chance(0.12) ? [random.pick(specialGroups)] : []
  const masters = random.chance(0.03) ? ['system:masters'] : []
  const base = known ? 'system:authenticated' : 'system:unauthenticated'
  const extra = extraOf(random, robot)
  return {
    name,
    groups: [...own, ...special, ...masters, base],
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function extraOf(random: Random, robot: boolean): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {}
  const home = [random.pick(names), ...(random.chance(0.1) ? [random.pick(names)] : [])]
  if (robot ? random.chance(0.8) : random.chance(0.1)) extra['authentication.kcp.io/cluster-name'] = home
  if (random.chance(0.25)) extra['authentication.kcp.io/scopes'] = scopesOf(random)
  if (random.chance(0.15)) extra['authorization.kcp.io/warrant'] = [warrantOf(random)]
  return extra
}

function scopesOf(random: Random): readonly string[] {
  const one = (): string =>
    random
      .some([...names, ...names], 3)
      .map(name => `cluster:${name}`)
      .join(',')
  return [one(), ...random.some([0], 1).map(one)]
}

function warrantOf(random: Random): string {
  if (random.chance(0.1)) return random.pick(['', 'null', '{"user":1}', '{"groups":"dev"}', '[]'])
  const { name, groups, extra } = createUser(random)
  return JSON.stringify({
    user: name,
    groups: groups.filter(group => group !== 'system:masters'),
    ...(extra && { extra }),
  })
}

const asked = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'bind',
] as const
const kinds: readonly (readonly [string, string, string])[] = [
  ['', 'configmaps', ''],
  ['', 'configmaps', ''],
  ['', 'secrets', ''],
  ['example.com', 'widgets', ''],
  ['example.com', 'widgets', 'status'],
  ['example.com', 'gadgets', ''],
  ['example.com', 'gadgets', ''],
  ['example.com', 'regions', ''],
  ['apis.kcp.io', 'apibindings', ''],
  ['apis.kcp.io', 'apibindings', 'status'],
  ['apis.kcp.io', 'apiexports', 'content'],
  ['apis.kcp.io', 'apiexports', 'status'],
  ['tenancy.kcp.io', 'workspaces', ''],
  ['tenancy.kcp.io', 'workspacetypes', ''],
]

/** What somebody may try in a cluster. */
export function createAction(random: Random, cluster: string): Action {
  if (random.chance(0.15)) {
    const verb = random.pick(['get', 'get', 'head', 'post', 'access'])
    return {
      verb,
      cluster,
      path: random.pick(['/', '/metrics', '/healthz', '/apis', '/apis/example.com', '/version', '/api']),
    }
  }
  const verb = random.pick(asked)
  const [group, resource, subresource] = random.pick(kinds)
  const namespace = group.endsWith('kcp.io') ? '' : random.pick(['', ...namespaces])
  const named = ['get', 'update', 'patch', 'delete', 'bind'].includes(verb)
  const name = named ? random.pick(['a', 'b', 'widgets']) : ''
  const deep = random.chance(0.05) ? { deep: true } : {}
  return {
    verb,
    cluster,
    resource: { group, version: 'v1', resource, subresource, namespace, name },
    ...deep,
  }
}
