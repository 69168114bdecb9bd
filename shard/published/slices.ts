import type { ApiResource, ApiSet } from '../../framework/contract/apis.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import { internalError, notFound } from '../../framework/meta/errors.ts'
import {
  type ClusterName,
  type ClusterScope,
  type GroupVersionResource,
  groupResource,
} from '../../framework/meta/object.ts'
import { mostHops } from '../../framework/request/incoming.ts'
import type { VirtualStorage } from '../../kcp/apis.ts'
import type { ClusterCachedResourceEndpointSlice } from '../../kcp/cache.ts'

export interface SliceSources {
  readonly informers: Informers
  /** Those of a logical cluster of this shard, or of all (`*`). */
  readonly apis: (cluster: ClusterScope) => ApiSet | undefined
}

/** A resource that an export offers with virtual storage. */
export interface Offer {
  readonly resource: GroupVersionResource
  readonly provider: ClusterName
  readonly virtual: VirtualStorage
}

const ownKind = 'ClusterCachedResourceEndpointSlice.cache.kcp.io'

/** The resources of kcp's cache server that a reference may name. */
const sharedKinds: ReadonlySet<string> = new Set([
  ownKind,
  'ClusterCachedResource.cache.kcp.io',
  ...['APIConversion', 'APIExport', 'APIExportEndpointSlice', 'APIResourceSchema'].map(
    kind => `${kind}.apis.kcp.io`,
  ),
])

/**
 * The endpoint slice that an export refers to. As in kcp, any kind of the cache server is accepted, but objects are
 * only found through a ClusterCachedResourceEndpointSlice. Throws 500 with kcp's message.
 */
export function sliceOf(sources: SliceSources, offer: Offer): ClusterCachedResourceEndpointSlice {
  const found = referred(sources, offer)
  if (kindOf(offer) === ownKind) return found as ClusterCachedResourceEndpointSlice
  const { status } = found as { readonly status?: { readonly endpoints?: readonly unknown[] } }
  throw status?.endpoints?.length ? inACircle(offer.resource) : unresolved(offer.resource)
}

const kindOf = ({ virtual: { reference } }: Offer): string =>
  groupResource(reference.apiGroup ?? '', reference.kind)

function referred({ informers, apis }: SliceSources, offer: Offer): object {
  const { apiGroup = '', kind, name } = offer.virtual.reference
  const isMeant = ({ group, names }: ApiResource): boolean => group === apiGroup && names.kind === kind
  const served = (apis(offer.provider) ?? apis('*'))?.resources.find(isMeant)
  if (served === undefined)
    throw unresolvable(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(apiGroup)}`)
  if (!sharedKinds.has(kindOf(offer))) throw unresolvable('the server could not find the requested resource')
  const { group, version, names } = served
  const resource = { group, version, resource: names.plural }
  const found = informers.for(resource).get(offer.provider, '', name)?.object
  if (found === undefined) throw unresolvable(notFound({ ...resource, name }).message)
  return found
}

const unresolvable = (why: string): Error => internalError(`error resolving resource: ${why}`)

export const unresolved = ({ group, resource }: GroupVersionResource): Error =>
  internalError(
    `error resolving resource ${groupResource(group, resource)}; please contact APIExport owner to resolve`,
  )

function inACircle({ group, resource }: GroupVersionResource): Error {
  const name = groupResource(group, resource)
  return internalError(
    `request for ${name} has been forwarded ${mostHops} times without being served: ` +
      'the virtual workspace advertised for it delegates it back to this shard. ' +
      `Check that the endpoint slice referenced by the APIExport points at a virtual workspace that serves ${name}, ` +
      'and that --shard-virtual-workspace-url does not point back at this shard',
  )
}
