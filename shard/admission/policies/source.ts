import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { boundSetsOf } from '../../bindings/boundsets.ts'

const ref = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })

/** The logical cluster whose policies and webhooks are asked about a write. */
export type PolicyCluster = (request: AdmissionAttributes) => ClusterName

/** For a bound resource the logical cluster of its APIExport, else that of the object (kcp `pkg/admission/validatingadmissionpolicy`). */
export function policyClusters(informers: Informers): PolicyCluster {
  const bound = boundSetsOf(informers)
  return ({ group, resource, key }) => {
    const known = bound
      .of(key.cluster, group, resource)
      .find(({ exportCluster }) => exportCluster !== undefined)
    return known?.exportCluster ?? key.cluster
  }
}

/** The objects of one resource of admissionregistration.k8s.io, by cluster and in the order of their names. */
export function configurationsOf(
  informers: Informers,
  resource: string,
): (cluster: ClusterName) => readonly Item[] {
  const configurations = informers.for(ref(resource)).index(({ key }) => [key.cluster])
  return cluster => [...configurations(cluster)].sort(byName)
}

const byName = (a: Item, b: Item): number => (a.key.name < b.key.name ? -1 : 1)

/**
 * Whether the logical cluster of a write has any objects of one resource of admissionregistration.k8s.io. Where none has any,
 * its bindings are not read.
 */
export function configured(
  informers: Informers,
  resource: string,
  clusterOf: PolicyCluster,
): (attributes: AdmissionAttributes) => boolean {
  const names = new Map<ClusterName, Set<string>>()
  informers.for(ref(resource)).onEvent(({ type, item: { key } }) => {
    const known = names.get(key.cluster) ?? new Set()
    if (type === 'DELETED') known.delete(key.name)
    else if (type !== 'BOOKMARK') known.add(key.name)
    if (known.size === 0) names.delete(key.cluster)
    else names.set(key.cluster, known)
  })
  return attributes => names.size > 0 && names.has(clusterOf(attributes))
}

/** Computes a value of an object once for each of its versions. */
export function perItem<T>(compute: (object: KubeObject) => T): (item: Item) => T {
  const known = new WeakMap<Item, { readonly value: T }>()
  return item => {
    const found = known.get(item) ?? { value: compute(item.object) }
    known.set(item, found)
    return found.value
  }
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
