import type { Informers } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { PolicyRule } from './policyrule.ts'
import {
  type Binding,
  bindingIn,
  type RbacSource,
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
  const roles = new Map<string, Role>()
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
      if (resource === 'roles' || resource === 'clusterroles') applyRole(roles, event)
      else applyBinding(bindings, event)
      changed(event.item.key.cluster)
    },
  }
}

const ignore = (): void => undefined
const none: readonly Binding[] = []

/** By subject and by name: a subject may have very many. */
type Bindings = Map<string, Map<string, Binding>>

const keyFor = (cluster: string, namespace: string, name: string): string => `${cluster}/${namespace}/${name}`

/** Rules are read at their first use. */
class Role {
  readonly #item: Item
  #rules: readonly PolicyRule[] | undefined
  constructor(item: Item) {
    this.#item = item
  }
  get rules(): readonly PolicyRule[] {
    this.#rules ??= rulesIn(this.#item.object)
    return this.#rules
  }
}

function applyRole(roles: Map<string, Role>, { type, item }: ItemEvent): void {
  const { cluster, namespace, name } = item.key
  if (type === 'DELETED') roles.delete(keyFor(cluster, namespace, name))
  else roles.set(keyFor(cluster, namespace, name), new Role(item))
}

function applyBinding(bindings: Bindings, { type, item, previous }: ItemEvent): void {
  const { name } = item.key
  for (const key of subjectKeys(type === 'DELETED' ? item : previous)) {
    const rest = bindings.get(key)
    rest?.delete(name)
    if (rest?.size === 0) bindings.delete(key)
  }
  const binding = type === 'DELETED' ? undefined : bindingIn(item.object)
  if (binding === undefined) return
  for (const key of subjectKeys(item)) {
    const all = bindings.get(key) ?? new Map<string, Binding>()
    bindings.set(key, all.set(name, binding))
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
