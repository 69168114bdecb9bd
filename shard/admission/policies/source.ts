import { type Awaitable, inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import type { BoundSets } from '../../bindings/boundsets.ts'

/** A resource of policies, their bindings or webhooks. */
export const policyRef = (resource: string) => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource,
})

/** The logical cluster whose policies and webhooks are asked about a write. */
export type PolicyCluster = (request: AdmissionAttributes) => ClusterName

/** For a bound resource the logical cluster of its APIExport, else that of the object (kcp `pkg/admission/validatingadmissionpolicy`). */
export const policyClusters =
  (bound: BoundSets): PolicyCluster =>
  ({ group, resource, key }) => {
    const known = bound
      .of(key.cluster, group, resource)
      .find(({ exportCluster }) => exportCluster !== undefined)
    return known?.exportCluster ?? key.cluster
  }

/** Policies or webhooks by logical cluster, in the order of their names; nothing for one without any. */
export type Configurations = Pick<ReadonlyMap<ClusterName, readonly Item[]>, 'get' | 'has' | 'size'>

/** Follows the objects of one resource of admissionregistration.k8s.io. */
export function configurationsOf(informers: Informers, resource: string): Configurations {
  const found = new SortedItems()
  informers.for(policyRef(resource)).onEvent(({ type, item }) => {
    if (type === 'DELETED') found.remove(item)
    else if (type !== 'BOOKMARK') found.put(item)
  })
  return found
}

/** Items by logical cluster, sorted by name when they are read after a change. */
class SortedItems implements Configurations {
  readonly #byCluster = new Map<ClusterName, Map<string, Item>>()
  readonly #sorted = new Map<ClusterName, readonly Item[]>()

  get size(): number {
    return this.#byCluster.size
  }

  has(cluster: ClusterName): boolean {
    return this.#byCluster.has(cluster)
  }

  get(cluster: ClusterName): readonly Item[] | undefined {
    const items = this.#byCluster.get(cluster)
    if (items === undefined) return undefined
    const sorted = this.#sorted.get(cluster) ?? [...items.values()].sort(byName)
    this.#sorted.set(cluster, sorted)
    return sorted
  }

  put(item: Item): void {
    const { cluster, name } = item.key
    const items = this.#byCluster.get(cluster) ?? new Map<string, Item>()
    this.#byCluster.set(cluster, items.set(name, item))
    this.#sorted.delete(cluster)
  }

  remove({ key: { cluster, name } }: Item): void {
    const items = this.#byCluster.get(cluster)
    items?.delete(name)
    if (items?.size === 0) this.#byCluster.delete(cluster)
    this.#sorted.delete(cluster)
  }
}

const byName = (a: Item, b: Item): number => (a.key.name < b.key.name ? -1 : 1)

/** Whether the logical cluster that is asked about a write has any of them. Where none has any, its bindings are not read. */
export const configured =
  (policyClusterOf: PolicyCluster, configurations: Configurations) =>
  (attributes: AdmissionAttributes): boolean =>
    configurations.size > 0 && configurations.has(policyClusterOf(attributes))

/** Computes a value of an object once for each of its versions, between the turns of other requests. */
export function perItem<T>(
  compute: (object: KubeObject) => Generator<void, T>,
): (item: Item) => Awaitable<T> {
  const known = new WeakMap<Item, Awaitable<T>>()
  const computed = async (item: Item): Promise<T> => {
    try {
      const value = await inTurns(compute(item.object), new Pace())
      known.set(item, value)
      return value
    } catch (error) {
      known.delete(item)
      throw error
    }
  }
  return item => {
    const found = known.get(item) ?? computed(item)
    if (found instanceof Promise) known.set(item, found)
    return found
  }
}

/** The values of all items, one after the other. */
export async function ofAll<T>(
  items: readonly Item[],
  of: (item: Item) => Awaitable<T>,
): Promise<readonly T[]> {
  const values: T[] = []
  for (const item of items) {
    const value = of(item)
    values.push(value instanceof Promise ? await value : value)
  }
  return values
}

const own: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
])

/** Policies and webhooks do not apply to policies and webhooks, so that a wrong one can be repaired. */
export const isExempt = ({ group, resource }: AdmissionAttributes): boolean =>
  group === 'admissionregistration.k8s.io' && own.has(resource)
