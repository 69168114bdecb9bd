import type { ApiResource, ApiSet } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type {
  ClusterName,
  ClusterScope,
  KubeObject,
  ObjectKey,
  OwnerReference,
} from '../../../framework/meta/object.ts'
import { isIdentity } from '../../apis/served.ts'
import type { ObjectPlace } from './ownership.ts'

export type ApisOf = (cluster: ClusterScope) => ApiSet | undefined

/** How an owner stands: there, waiting in foreground deletion for its dependents, gone, or not to be found out. */
export type Standing = 'solid' | 'waiting' | 'absent' | 'unknown'

export const foreground = 'foregroundDeletion'
export const orphan = 'orphan'

export const isTerminatingWith = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)

/** How a cluster serves what lies at a place. */
export interface ServedPlace {
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
  const bound = set.find(group, version, `${plural}:${segment}`)
  return bound && { ref: { ...ref, identity: segment }, resource: bound }
}

const groupOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf('/')
  return slash === -1 ? '' : apiVersion.slice(0, slash)
}

function servedKind(
  apis: ApisOf,
  cluster: ClusterName,
  { apiVersion, kind }: OwnerReference,
): ApiResource | undefined {
  const group = groupOf(apiVersion)
  return (apis(cluster) ?? apis('*'))?.resources.find(r => r.group === group && r.names.kind === kind)
}

/** Reads an object of a resource; undefined when there is none. */
export type Read = (resource: ApiResource, key: ObjectKey) => Promise<KubeObject | undefined>

/**
 * How an owner of the object at `place` stands. Owners are looked for in the dependent's own cluster and namespace only;
 * another object under the owner's name is not the owner (chapter 40, rule 6.15).
 */
export async function standingOf(
  { apis, read }: { readonly apis: ApisOf; readonly read: Read },
  { cluster, namespace }: ObjectPlace,
  owner: OwnerReference,
): Promise<Standing> {
  const served = servedKind(apis, cluster, owner)
  if (served === undefined || (served.namespaced && namespace === '')) return 'unknown'
  const key = { cluster, namespace: served.namespaced ? namespace : '', name: owner.name }
  const found = await read(served, key)
  if (found === undefined || found.metadata.uid !== owner.uid) return 'absent'
  return isTerminatingWith(found, foreground) ? 'waiting' : 'solid'
}
