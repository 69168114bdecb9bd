import type { Informer } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import { Work } from '../../../framework/json/json.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { type LabelSelector, matchesLabels } from '../../../framework/selectors/selectors.ts'
import { decodeObjectSteps } from '../../../framework/wire/encodesteps.ts'
import { type MetaV1LabelSelector, requirementsOf } from '../../../kcp/selector.ts'

type Labels = Readonly<Record<string, string>>

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly MetaV1LabelSelector[] | null
}

/** Every role is an event. One with rules of a megabyte is decoded when its selectors are read, in steps. */
const firstSelector = Buffer.from('"aggregationRule":{"clusterRoleSelectors":[{')

const isAggregating = ({ bytes }: Item): boolean => bytes.includes(firstSelector)

const writtenSelectors = ({ aggregationRule }: KubeObject): readonly MetaV1LabelSelector[] =>
  (aggregationRule as AggregationRule | null | undefined)?.clusterRoleSelectors ?? []

/** The selectors of `aggregationRule`, in steps. */
export function* selectorsOf(role: KubeObject, work: Work): Generator<void, readonly LabelSelector[]> {
  const selectors: LabelSelector[] = []
  for (const written of writtenSelectors(role)) {
    selectors.push(requirementsOf(written))
    if (work.isStepDone()) yield
  }
  return selectors
}

/**
 * The roles of each logical cluster with an `aggregationRule`. Which of them a change affects is found out in steps, after the
 * event: a logical cluster may have as many selectors as fit into it.
 */
export class AggregatingRoles {
  readonly #roles: Informer
  /** undefined: not read since the role has changed. */
  readonly #selectors = new Map<ClusterName, Map<string, readonly LabelSelector[] | undefined>>()
  /** The labels of changed roles, before and after. */
  readonly #changed = new Map<ClusterName, Set<Labels>>()

  constructor(roles: Informer) {
    this.#roles = roles
    roles.onEvent(({ type, item }) => {
      if (type === 'BOOKMARK') return
      const { cluster, name } = item.key
      if (type !== 'DELETED' && isAggregating(item)) this.#add(cluster, name)
      else this.#remove(cluster, name)
    })
  }

  has(cluster: ClusterName, name: string): boolean {
    return this.#selectors.get(cluster)?.has(name) === true
  }

  /** Notes the labels of a changed role. Returns whether its logical cluster has aggregating roles. */
  noteChange({ key: { cluster }, meta }: Item, previous: Item | undefined): boolean {
    if (!this.#selectors.has(cluster)) return false
    const changed = this.#changed.get(cluster) ?? new Set()
    changed.add(meta.labels)
    if (previous !== undefined) changed.add(previous.meta.labels)
    this.#changed.set(cluster, changed)
    return true
  }

  /** The noted labels, which are forgotten. */
  takeChanges(cluster: ClusterName): readonly Labels[] {
    const changed = [...(this.#changed.get(cluster) ?? [])]
    this.#changed.delete(cluster)
    return changed
  }

  /** Notes labels again. */
  giveBack(cluster: ClusterName, labels: readonly Labels[]): void {
    this.#changed.set(cluster, new Set([...(this.#changed.get(cluster) ?? []), ...labels]))
  }

  /** The names of the aggregating roles that select one of these labels, in steps. */
  *selecting(cluster: ClusterName, changed: readonly Labels[]): Generator<void, readonly string[]> {
    const work = new Work()
    const names: string[] = []
    for (const name of [...(this.#selectors.get(cluster)?.keys() ?? [])]) {
      const selectors = yield* this.#selectorsOf(cluster, name, work)
      if (yield* selects(selectors, changed, work)) names.push(name)
    }
    return names
  }

  *#selectorsOf(cluster: ClusterName, name: string, work: Work): Generator<void, readonly LabelSelector[]> {
    const known = this.#selectors.get(cluster)?.get(name)
    if (known !== undefined) return known
    const item = this.#roles.get(cluster, '', name)
    if (item === undefined) return []
    const read = yield* selectorsOf(yield* decodeObjectSteps(item.bytes), work)
    yield
    // The role may have changed in the meantime.
    if (this.#roles.get(cluster, '', name) === item) this.#selectors.get(cluster)?.set(name, read)
    return read
  }

  #add(cluster: ClusterName, name: string): void {
    const own = this.#selectors.get(cluster) ?? new Map<string, undefined>()
    this.#selectors.set(cluster, own.set(name, undefined))
  }

  #remove(cluster: ClusterName, name: string): void {
    const own = this.#selectors.get(cluster)
    if (own?.delete(name) && own.size === 0) this.#selectors.delete(cluster)
  }
}

function* selects(
  selectors: readonly LabelSelector[],
  changed: readonly Labels[],
  work: Work,
): Generator<void, boolean> {
  for (const selector of selectors)
    for (const labels of changed) {
      if (matchesLabels(selector, labels)) return true
      if (work.isStepDone()) yield
    }
  return false
}
