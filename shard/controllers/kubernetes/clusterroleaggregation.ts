import type { PolicyRule } from '../../../authz/rbac/policyrule.ts'
import { rbacGroup } from '../../../authz/rbac/rbacsource.ts'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import { canonicalJson, Work } from '../../../framework/json/json.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { matchesLabels } from '../../../framework/selectors/selectors.ts'
import { isCopy } from '../../../kcp/annotations.ts'
import { type ControllerClient, clusterScoped, updateObject } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
import { AggregatingRoles, selectorsOf } from './aggregatingroles.ts'

export interface AggregationDeps {
  readonly client: ControllerClient
  readonly informers: Informers
  readonly log: Logger
}

const ref = { group: rbacGroup, version: 'v1', resource: 'clusterroles' }

/**
 * Sets the rules of roles with an `aggregationRule` to the rules of the roles that it selects in the same logical
 * cluster, sorted by role name and without duplicates (`pkg/controller/clusterroleaggregation`). Authorization
 * reads only `rules`. A role whose rules would be larger than an object may be keeps those that it has.
 */
export function aggregationController({ client, informers, log }: AggregationDeps): Controller {
  const roles = informers.for(ref)
  const aggregating = new AggregatingRoles(roles)
  const aggregate = async (cluster: ClusterName, name: string): Promise<void> => {
    const role = roles.get(cluster, '', name)?.object
    if (role === undefined || isCopy(role) || !aggregating.has(cluster, name)) return
    const rules = await inTurns(changedRules(role, roles.list(cluster)), new Pace())
    if (rules === undefined) return
    await updateObject(client, ref, clusterScoped(cluster, name), current => ({ ...current, rules }))
  }
  const aggregateAffected = async (cluster: ClusterName): Promise<void> => {
    const changed = aggregating.takeChanges(cluster)
    try {
      const names = await inTurns(aggregating.selecting(cluster, changed), new Pace())
      await forEach(names, name => aggregate(cluster, name))
    } catch (error) {
      aggregating.giveBack(cluster, changed)
      throw error
    }
  }
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    await (name === '' ? aggregateAffected(cluster) : aggregate(cluster, name))
  }
  const keys = ({ item, previous }: ItemEvent): readonly string[] =>
    aggregating.noteChange(item, previous) ? [keyOf(item), keyFor(item.key.cluster, '')] : [keyOf(item)]
  return createController(
    { name: 'clusterrole-aggregation', reconcile, sources: [{ informer: roles, keys }] },
    log,
  )
}

/** One after another, also those after a failure; throws the first one. */
async function forEach(names: readonly string[], act: (name: string) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  for (const name of names) await act(name).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** The rules that the role gets, in steps; undefined: it has them, or they are larger than an object may be. */
function* changedRules(
  role: KubeObject,
  all: readonly Item[],
): Generator<void, readonly PolicyRule[] | undefined> {
  const work = new Work()
  const rules = new UniqueRules()
  for (const { object } of yield* sourcesOf(role, all, work)) {
    yield
    yield* rules.add(rulesOf(object), work)
    if (rules.isTooLarge) return undefined
  }
  const known = new UniqueRules()
  yield* known.add(rulesOf(role), work)
  return rules.has(known, rulesOf(role).length) ? undefined : rules.all
}

/** The selected roles, each once, by name for each selector. */
function* sourcesOf(role: KubeObject, all: readonly Item[], work: Work): Generator<void, Iterable<Item>> {
  const others = all
    .filter(({ key }) => key.name !== role.metadata.name)
    .toSorted((a, b) => (a.key.name < b.key.name ? -1 : 1))
  const sources = new Set<Item>()
  for (const selector of yield* selectorsOf(role, work))
    for (const item of others) {
      if (matchesLabels(selector, item.meta.labels)) sources.add(item)
      if (work.isStepDone()) yield
    }
  return sources
}

const rulesOf = (role: KubeObject): readonly PolicyRule[] => (role.rules ?? []) as readonly PolicyRule[]

/** More characters of rules than an object may have bytes. */
const mostText = 2 ** 21

/** Each rule once, at its first position. */
class UniqueRules {
  readonly #byText = new Map<string, PolicyRule>()
  #length = 0

  get all(): readonly PolicyRule[] {
    return [...this.#byText.values()]
  }

  get isTooLarge(): boolean {
    return this.#length > mostText
  }

  *add(rules: readonly PolicyRule[], work: Work): Generator<void> {
    for (const rule of rules) {
      const text = canonicalJson(rule)
      if (!this.#byText.has(text)) this.#length += text.length
      this.#byText.set(text, this.#byText.get(text) ?? rule)
      if (work.isStepDone()) yield
    }
  }

  /** Whether these are the rules of `other`, of which it has `count`. Their order does not matter: bootstrap has another one. */
  has(other: UniqueRules, count: number): boolean {
    return this.#byText.size === count && [...this.#byText.keys()].every(text => other.#byText.has(text))
  }
}
