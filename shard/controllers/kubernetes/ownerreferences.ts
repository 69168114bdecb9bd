import { type ApiResource, type ApiSet, resourceOfRef } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { Item } from '../../../framework/contract/item.ts'
import {
  type ClusterName,
  type ClusterScope,
  groupIn,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
} from '../../../framework/meta/object.ts'
import type { StoredResource } from '../../cache/codec.ts'
import { isIdentity } from '../../cache/segments.ts'

/** One object of any resource. */
export interface ObjectPlace extends StoredResource {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
}

/** The key of an object: only names may contain `|`, and the name is last. */
export const placeKey = ({ group, resource, segment, cluster, namespace, name }: ObjectPlace): string =>
  [cluster, group, resource, segment, namespace, name].join('|')

export function parsePlace(key: string): ObjectPlace {
  const [cluster = '', group = '', resource = '', segment = '', namespace = '', ...name] = key.split('|')
  return { group, resource, segment, cluster, namespace, name: name.join('|') }
}

export const placeOf = (resource: StoredResource, item: Item): ObjectPlace => ({ ...resource, ...item.key })

export type ApisOf = (cluster: ClusterScope) => ApiSet | undefined

/**
 * The state of an owner: it exists, waits in foreground deletion for its dependents, is gone, or its kind is not
 * served.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unknown'

export const foreground = 'foregroundDeletion'
export const orphan = 'orphan'

export const isTerminatingWith = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)

/** The served resource of a stored object. */
interface ServedPlace {
  readonly ref: ResourceRef
  readonly resource: ApiResource
}

/** undefined when the cluster does not serve the resource, or not under that identity. */
export function servedAt(apis: ApisOf, place: ObjectPlace): ServedPlace | undefined {
  const { group, resource: plural, segment, cluster } = place
  const set = apis(cluster) ?? apis('*')
  const resource = set?.resources.find(r => r.group === group && r.names.plural === plural)
  if (set === undefined || resource === undefined) return undefined
  const { version } = resource
  const ref = { group, version, resource: plural }
  if (!isIdentity(segment)) return { ref, resource }
  const boundRef = { ...ref, identity: segment }
  const bound = resourceOfRef(set, boundRef)
  return bound && { ref: boundRef, resource: bound }
}

function servedKind(
  apis: ApisOf,
  cluster: ClusterName,
  { apiVersion, kind }: OwnerReference,
): ApiResource | undefined {
  const group = groupIn(apiVersion)
  return (apis(cluster) ?? apis('*'))?.resources.find(r => r.group === group && r.names.kind === kind)
}

/** Reads an object of a resource; undefined when there is none. */
export type Read = (resource: ApiResource, key: ObjectKey) => Promise<KubeObject | undefined>

/**
 * The state of an owner of the object at `place`. Owners are looked up only in the logical cluster and namespace of
 * the dependent; another object with the name of the owner is not the owner (rules.md 6.15).
 */
export async function ownerStateOf(
  { apis, read }: { readonly apis: ApisOf; readonly read: Read },
  { cluster, namespace }: ObjectPlace,
  owner: OwnerReference,
): Promise<OwnerState> {
  const served = servedKind(apis, cluster, owner)
  if (served === undefined || (served.namespaced && namespace === '')) return 'unknown'
  const key = { cluster, namespace: served.namespaced ? namespace : '', name: owner.name }
  const found = await read(served, key)
  if (found === undefined || found.metadata.uid !== owner.uid) return 'absent'
  return isTerminatingWith(found, foreground) ? 'waiting' : 'solid'
}
