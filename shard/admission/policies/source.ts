import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { resources } from '../../../kcp/resources.ts'

const ref = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })

/** The logical cluster whose policies and webhooks are asked about a write. */
export type PolicyCluster = (request: AdmissionAttributes) => ClusterName

/** For a bound resource the logical cluster of its APIExport, else that of the object (kcp `pkg/admission/validatingadmissionpolicy`). */
export function policyClusters(informers: Informers): PolicyCluster {
  const bindings = informers.for(resources.apiBindings).index(boundResourceKeys)
  return ({ group, resource, key }) => {
    const [binding] = bindings(boundResourceKey(key.cluster, group, resource))
    return (binding?.object as APIBinding | undefined)?.status?.apiExportClusterName ?? key.cluster
  }
}

const boundResourceKey = (cluster: ClusterName, group: string, resource: string): string =>
  `${cluster}/${groupResource(group, resource)}`

/** The keys of the bound resources of an APIBinding. */
function boundResourceKeys({ key, object }: Item): readonly string[] {
  const { boundResources = [], apiExportClusterName } = (object as APIBinding).status ?? {}
  if (apiExportClusterName === undefined) return []
  return boundResources.map(({ group, resource }) => boundResourceKey(key.cluster, group, resource))
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

/** Whether the logical cluster of a write has any of the configurations. */
export const configured =
  (clusterOf: PolicyCluster, configurations: (cluster: ClusterName) => readonly Item[]) =>
  (attributes: AdmissionAttributes): boolean =>
    configurations(clusterOf(attributes)).length > 0

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
