import type { PolicyRule } from '../../../authz/rbac/policyrule.ts'
import { rbacGroup } from '../../../authz/rbac/rbacsource.ts'
import type { Informer, Informers } from '../../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import { canonicalJson } from '../../../framework/json/json.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { type LabelSelector, matchesLabels } from '../../../framework/selectors/selectors.ts'
import { isCopy } from '../../../kcp/annotations.ts'
import { type MetaV1LabelSelector, requirementsOf } from '../../../kcp/selector.ts'
import { type ControllerClient, clusterScoped, updateObject } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'

export interface AggregationDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly log: Logger
}

const ref = { group: rbacGroup, version: 'v1', resource: 'clusterroles' }

/**
 * Sets the rules of roles with an `aggregationRule` to the rules of the roles that it selects in the same logical
 * cluster, sorted by role name and without duplicates (`pkg/controller/clusterroleaggregation`). Authorization
 * reads only `rules`.
 */
export function aggregationController({ client, informers, log }: AggregationDeps): Controller {
  const roles = informers.for(ref)
  const aggregating = createAggregating(roles)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const role = roles.get(cluster, '', name)?.object
    if (role === undefined || isCopy(role) || selectorsOf(role).length === 0) return
    const rules = aggregated(role, roles.list(cluster))
    if (sameRules(rules, rulesOf(role))) return
    await updateObject(client, ref, clusterScoped(cluster, name), current => ({ ...current, rules }))
  }
  const keys = (event: ItemEvent): readonly string[] => [
    keyOf(event.item),
    ...aggregating.affectedBy(event).map(name => keyFor(event.item.key.cluster, name)),
  ]
  return createController(
    { name: 'clusterrole-aggregation', reconcile, sources: [{ informer: roles, keys }] },
    log,
  )
}

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly MetaV1LabelSelector[] | null
}

/** The selectors of `aggregationRule`. */
const selectorsOf = ({ aggregationRule }: KubeObject): readonly LabelSelector[] =>
  ((aggregationRule as AggregationRule | null | undefined)?.clusterRoleSelectors ?? []).map(requirementsOf)

/** Keeps only the names of aggregating roles, so that a change of another role compares it with these few. */
function createAggregating(roles: Informer) {
  const found = new Map<ClusterName, Map<string, readonly LabelSelector[]>>()
  roles.onEvent(({ type, item }) => {
    if (type === 'BOOKMARK') return
    const { cluster, name } = item.key
    const selectors = type === 'DELETED' ? [] : selectorsOf(item.object)
    const own = found.get(cluster)
    if (selectors.length > 0) found.set(cluster, (own ?? new Map()).set(name, selectors))
    else if (own?.delete(name) && own.size === 0) found.delete(cluster)
  })
  return {
    /** The aggregating roles that select, or selected, the changed one. */
    affectedBy({ item, previous }: ItemEvent): readonly string[] {
      const states = previous === undefined ? [item] : [item, previous]
      return [...(found.get(item.key.cluster) ?? [])]
        .filter(([, selectors]) => states.some(({ meta }) => selects(selectors, meta.labels)))
        .map(([name]) => name)
    },
  }
}

const selects = (selectors: readonly LabelSelector[], labels: Readonly<Record<string, string>>): boolean =>
  selectors.some(selector => matchesLabels(selector, labels))

function aggregated(role: KubeObject, all: readonly Item[]): readonly PolicyRule[] {
  const others = all
    .filter(({ key }) => key.name !== role.metadata.name)
    .toSorted((a, b) => (a.key.name < b.key.name ? -1 : 1))
  const sources = selectorsOf(role).flatMap(selector =>
    others.filter(({ meta }) => matchesLabels(selector, meta.labels)),
  )
  return [...byText(sources.flatMap(({ object }) => rulesOf(object))).values()]
}

const rulesOf = (role: KubeObject): readonly PolicyRule[] => (role.rules ?? []) as readonly PolicyRule[]

/** The order does not matter: bootstrap writes aggregated rules in another order. */
function sameRules(a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean {
  const known = byText(b)
  return a.length === b.length && [...byText(a).keys()].every(text => known.has(text))
}

/** Each rule once, at its first position. */
const byText = (rules: readonly PolicyRule[]): ReadonlyMap<string, PolicyRule> =>
  new Map(rules.map(rule => [canonicalJson(rule), rule]))
