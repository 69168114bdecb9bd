import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { RbacSubject } from '../../authz/rbac/rbacsource.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { ruleOf, subjectOf } from './policies.ts'
import type { Random } from './random.ts'
import { createUser } from './users.ts'
import { consumers, providers, type Rbac } from './world.ts'

/** The tree of workspaces, and the initializers and terminators that are waited for. */
export interface Tree {
  readonly types: readonly WorkspaceType[]
  /** Of the existing logical clusters, by name. */
  readonly lives: Readonly<Record<string, Life>>
  readonly workspaces: readonly Child[]
  readonly kubeClusters: readonly { readonly cluster: string; readonly name: string }[]
}

export interface WorkspaceType {
  readonly cluster: string
  readonly name: string
  /** The permissions of initializers and terminators, where the type declares them. */
  readonly permissions: Readonly<Record<'initializer' | 'terminator', readonly PolicyRule[]>>
}

/** The lifecycle state of a logical cluster. */
export interface Life {
  readonly initializers: readonly string[]
  readonly terminators: readonly string[]
  readonly isDeleting: boolean
  readonly owner?: UserInfo
}

/** A workspace in its parent. */
export interface Child {
  readonly cluster: string
  readonly name: string
  /** Its logical cluster; '' before it has one. */
  readonly inside: string
  readonly phase: string
  readonly isMount: boolean
  readonly creator?: string
}

export const childNames = ['w1', 'w2', 'w3'] as const
/** Existing types, a missing one, one of the server, and an invalid one. */
export const identifiers = [
  ...['maker:team', 'seller:team', 'maker:other', 'system:apibindings', 'nothing'],
  ...['maker:team', 'seller:team', 'maker:team', 'seller:team'],
]

export function createTree(random: Random, existing: readonly string[]): Tree {
  return {
    types: providers.filter(cluster => existing.includes(cluster)).map(cluster => typeIn(random, cluster)),
    lives: Object.fromEntries(existing.map(cluster => [cluster, lifeOf(random)])),
    workspaces: existing.flatMap(cluster => childNames.map(name => childOf(random, cluster, name))),
    kubeClusters: existing.filter(() => random.chance(0.6)).map(cluster => ({ cluster, name: 'a' })),
  }
}

function typeIn(random: Random, cluster: string): WorkspaceType {
  const rules = (): readonly PolicyRule[] =>
    random.chance(0.5) ? [] : [contentRule(random), ...random.some([0], 1).map(() => ruleOf(random))]
  return { cluster, name: 'team', permissions: { initializer: rules(), terminator: rules() } }
}

const contentRule = (random: Random): PolicyRule => ({
  verbs: [random.pick(['get', 'list', '*']), random.pick(['create', 'update', 'watch'])],
  apiGroups: [''],
  resources: [random.pick(['configmaps', 'configmaps', 'secrets', '*'])],
})

function lifeOf(random: Random): Life {
  const own = identifiers.slice(0, 4)
  return {
    initializers: own.filter(() => random.chance(0.7)),
    terminators: own.filter(() => random.chance(0.7)),
    isDeleting: random.chance(0.5),
    ...(random.chance(0.9) && { owner: createUser(random) }),
  }
}

const childOf = (random: Random, cluster: string, name: string): Child => ({
  cluster,
  name,
  inside: random.pick(['', ...consumers, ...consumers, ...providers, 'nowhere']),
  phase: random.pick(['Ready', 'Ready', 'Ready', 'Initializing', 'Scheduling', 'Unavailable']),
  isMount: random.chance(0.2),
  ...(random.chance(0.7) && { creator: random.pick(['ann', 'bob', 'cat']) }),
})

const tenancy = ['tenancy.kcp.io', 'tenancy.kcp.io', '*']

const treeRights = [
  [tenancy, ['initialize', 'terminate', '*'], ['workspacetypes']],
  [tenancy, ['get', 'list', 'watch', 'update', 'delete', 'patch', '*'], ['workspaces']],
  [
    ['mounts.contrib.kcp.io', '*'],
    ['get', 'list', 'proxy', '*'],
    ['kubeclusters', '*'],
  ],
] as const

/** RBAC for the tree, which would be rare among random rules. */
export const treeRbac = (random: Random, cluster: string): readonly Rbac[] => [
  ...['t1', 't2', 't3'].map(name => rbacNamed(cluster, name, treeRule(random), subjectOf(random))),
  ...(random.chance(0.6) ? [openTo(random, cluster)] : []),
]

function treeRule(random: Random): PolicyRule {
  const [apiGroups, verbs, resources] = random.pick(treeRights)
  return {
    verbs: [random.pick(verbs), random.pick(verbs)],
    apiGroups: [random.pick(apiGroups)],
    resources: [random.pick(resources)],
    ...(random.chance(0.3) && { resourceNames: [random.pick(['team', 'a', 'w1', 'w2'])] }),
  }
}

/** Roles and bindings for one user or for all: access, the verbs of types, and reads. */
function openTo(random: Random, cluster: string): Rbac {
  const kind = random.pick(['User', 'Group'] as const)
  const name = kind === 'User' ? random.pick(['ann', 'bob', 'cat']) : 'system:authenticated'
  const using = {
    verbs: ['initialize', 'terminate', 'list'],
    apiGroups: ['tenancy.kcp.io'],
    resources: ['*'],
  }
  const entering = { verbs: ['access'], nonResourceURLs: ['/'] }
  const { roles, bindings } = rbacNamed(cluster, 'open', using, { kind, name })
  return { bindings, roles: roles.map(role => ({ ...role, rules: [...role.rules, entering] })) }
}

function rbacNamed(cluster: string, name: string, rule: PolicyRule, subject: RbacSubject): Rbac {
  const place = { cluster, namespace: '', name }
  return {
    roles: [{ ...place, rules: [rule] }],
    bindings: [{ ...place, role: { kind: 'ClusterRole', name }, subjects: [subject] }],
  }
}
