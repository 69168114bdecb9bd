import type { Informers } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { PolicyRule } from './policyrule.ts'
import { systemAdmin } from './rbac.ts'
import {
  type Binding,
  bindingIn,
  type RbacSource,
  type RoleRules,
  rbacGroup,
  rulesIn,
  subjectKey,
  subjectsIn,
} from './rbacsource.ts'
import { RuleIndexes } from './ruleindex.ts'

const rbacResources = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] as const
type RbacResource = (typeof rbacResources)[number]

/** The RBAC objects of every logical cluster: roles by name, bindings by subject. */
export interface RbacIndex extends RbacSource {
  /** Applies a change; only the order of the changes of one object matters. */
  apply(resource: RbacResource, event: ItemEvent): void
}

/**
 * Indexes RBAC objects by events of the watch cache; `changed` is called at each event. The cost of finding the
 * bindings of a user does not depend on the number of other bindings.
 */
export function createRbacIndex(changed: (cluster: ClusterName) => void = ignore): RbacIndex {
  const roles = new Roles()
  const bindings: Bindings = new Map()
  const rulesOf = (key: string): readonly PolicyRule[] | undefined => roles.get(key)?.rules
  const bindingsOf = (key: string): Iterable<Binding> => bindings.get(key)?.values() ?? none
  return {
    ruleIndexes: new RuleIndexes(),
    clusterRole: (cluster, name) => rulesOf(keyFor(cluster, '', name)),
    role: (cluster, namespace, name) => rulesOf(keyFor(cluster, namespace, name)),
    clusterRoleBindings: (cluster, subject) => bindingsOf(keyFor(cluster, '', subject)),
    roleBindings: (cluster, namespace, subject) => bindingsOf(keyFor(cluster, namespace, subject)),
    apply: (resource, event) => {
      if (event.type === 'BOOKMARK') return
      if (resource === 'roles' || resource === 'clusterroles') roles.apply(event)
      else applyBinding(bindings, roles, event)
      changed(event.item.key.cluster)
    },
  }
}

const ignore = (): void => undefined
const none: readonly Binding[] = []

/** By subject and by name: a subject may have very many. */
type Bindings = Map<string, Map<string, BoundRoles>>

const keyFor = (cluster: string, namespace: string, name: string): string => `${cluster}/${namespace}/${name}`

/** A role, or the place of one that bindings name. Rules are read at their first use. */
class Role {
  readonly key: string
  /** Bindings that name the role. */
  bindings = 0
  /** A subject with many bindings has the role: its rules are read before they are asked for. */
  isReadSoon = false
  #item: Item | undefined
  #rules: readonly PolicyRule[] | undefined

  constructor(key: string) {
    this.key = key
  }
  get isUnused(): boolean {
    return this.#item === undefined && this.bindings === 0
  }
  set item(item: Item | undefined) {
    this.#item = item
    this.#rules = undefined
  }
  /** undefined: the role does not exist. */
  get rules(): readonly PolicyRule[] | undefined {
    if (this.#rules === undefined && this.#item !== undefined) this.#rules = rulesIn(this.#item.object)
    return this.#rules
  }
}

/** Roles whose rules are read at once, in about a millisecond. */
const atOnce = 100

/** A subject with so many bindings has its roles read soon: a decision would read all of them in one step. */
const many = 500

/** The roles of all logical clusters, and those that bindings name: a binding finds its roles once. */
class Roles {
  readonly #byKey = new Map<string, Role>()
  readonly #unread: Role[] = []

  get(key: string): Role | undefined {
    return this.#byKey.get(key)
  }

  apply({ type, item }: ItemEvent): void {
    const { cluster, namespace, name } = item.key
    const role = this.#at(keyFor(cluster, namespace, name))
    role.item = type === 'DELETED' ? undefined : item
    if (role.isReadSoon) this.readSoon([role])
    this.#tidy(role)
  }

  /** Reads the rules of roles between the turns of requests. */
  readSoon(found: readonly Role[]): void {
    if (this.#unread.length === 0) setImmediate(this.#readSome)
    for (const role of found) {
      role.isReadSoon = true
      this.#unread.push(role)
    }
  }

  readonly #readSome = (): void => {
    for (const role of this.#unread.splice(-atOnce)) void role.rules
    if (this.#unread.length > 0) setImmediate(this.#readSome)
  }

  /** The role that a binding names, and that of `system:admin` with its name. To be given back by `release`. */
  bound(cluster: ClusterName, namespace: string, name: string): readonly Role[] {
    const owners = cluster === systemAdmin ? [cluster] : [cluster, systemAdmin]
    const found = owners.map(owner => this.#at(keyFor(owner, namespace, name)))
    for (const role of found) role.bindings++
    return found
  }

  release(found: readonly Role[]): void {
    for (const role of found) {
      role.bindings--
      this.#tidy(role)
    }
  }

  #at(key: string): Role {
    const role = this.#byKey.get(key) ?? new Role(key)
    this.#byKey.set(key, role)
    return role
  }

  #tidy(role: Role): void {
    if (role.isUnused) this.#byKey.delete(role.key)
  }
}

/** A binding with its roles. */
class BoundRoles implements Binding {
  readonly name: string
  readonly role: Binding['role']
  readonly roles: readonly Role[]

  constructor({ name, role }: Omit<Binding, 'rules'>, roles: readonly Role[]) {
    this.name = name
    this.role = role
    this.roles = roles
  }
  get rules(): RoleRules | undefined {
    const [own, shared] = this.roles
    const [rules, more] = [own?.rules, shared?.rules]
    if (rules === undefined) return more && [more]
    return more === undefined ? [rules] : [rules, more]
  }
}

function applyBinding(bindings: Bindings, roles: Roles, { type, item, previous }: ItemEvent): void {
  const { name, cluster } = item.key
  let gone: BoundRoles | undefined
  for (const key of subjectKeys(type === 'DELETED' ? item : previous)) {
    const rest = bindings.get(key)
    gone ??= rest?.get(name)
    rest?.delete(name)
    if (rest?.size === 0) bindings.delete(key)
  }
  if (gone !== undefined) roles.release(gone.roles)
  const named = type === 'DELETED' ? undefined : bindingIn(item.object)
  const keys = subjectKeys(item)
  if (named === undefined || keys.size === 0) return
  const namespace = named.role.kind === 'ClusterRole' ? '' : item.key.namespace
  const binding = new BoundRoles(named, roles.bound(cluster, namespace, named.role.name))
  for (const key of keys) {
    const all = bindings.get(key) ?? new Map<string, BoundRoles>()
    bindings.set(key, all.set(name, binding))
    if (all.size > many) roles.readSoon(binding.roles)
  }
}

/** The keys of a binding, each once. */
function subjectKeys(item: Item | undefined): ReadonlySet<string> {
  if (item === undefined) return new Set()
  const { cluster, namespace } = item.key
  const subjects = subjectsIn(item.object).flatMap(subject => subjectKey(subject, namespace) ?? [])
  return new Set(subjects.map(subject => keyFor(cluster, namespace, subject)))
}

/** Fills an index with the objects of informers and their changes. */
export function followRbac(informers: Informers, index: RbacIndex): void {
  for (const resource of rbacResources) {
    const objects = informers.for({ group: rbacGroup, version: 'v1', resource })
    objects.onEvent(event => index.apply(resource, event))
  }
}
