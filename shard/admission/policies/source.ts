import { type Awaitable, inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import type { BoundSets } from '../../bindings/boundsets.ts'

const ref = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })

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
export type Configurations = ReadonlyMap<ClusterName, readonly Item[]>

/** Follows the objects of one resource of admissionregistration.k8s.io. */
export function configurationsOf(informers: Informers, resource: string): Configurations {
  const found = new Map<ClusterName, readonly Item[]>()
  informers.for(ref(resource)).onEvent(({ type, item }) => {
    if (type === 'BOOKMARK') return
    const { cluster, name } = item.key
    const others = (found.get(cluster) ?? []).filter(({ key }) => key.name !== name)
    const items = type === 'DELETED' ? others : [...others, item].sort(byName)
    if (items.length === 0) found.delete(cluster)
    else found.set(cluster, items)
  })
  return found
}

const byName = (a: Item, b: Item): number => (a.key.name < b.key.name ? -1 : 1)

/** Whether the logical cluster that is asked about a write has any of them. Where none has any, its bindings are not read. */
export const configured =
  (clusterOf: PolicyCluster, configurations: Configurations) =>
  (attributes: AdmissionAttributes): boolean =>
    configurations.size > 0 && configurations.has(clusterOf(attributes))

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
