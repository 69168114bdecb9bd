import { borrowed, type Lender } from '../../framework/borrowed.ts'
import { internalError, notFound, notServed } from '../../framework/errors.ts'
import type { Informers } from '../../framework/informer.ts'
import { type ClusterName, type GroupVersionResource, groupResource } from '../../framework/object.ts'
import type { SharedCache } from '../../framework/sharedcache.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import { isVirtual } from '../apis/served.ts'
import { conditionIs } from '../controllers/conditions.ts'
import {
  type APIBinding,
  type APIExport,
  type ClusterCachedResource,
  type ClusterCachedResourceEndpointSlice,
  resources,
  type VirtualStorage,
} from '../controllers/objects.ts'

export interface VirtualResourcesOptions {
  readonly informers: Informers
  readonly shared: SharedCache
  readonly resolve: (path: string) => ClusterName | undefined
}

/** Bound resources whose objects are published elsewhere (chapter 20, section 6.7), read where they are. */
export function virtualResources(
  options: VirtualResourcesOptions,
): (resource: GroupVersionResource) => ResourceStorage {
  return resource =>
    borrowed(resource, ({ cluster }) => {
      const found = publishedFor(options, cluster, resource)
      if (found === undefined) throw unresolved(resource)
      if (found.version !== resource.version) throw notServed()
      return found
    })
}

const unresolved = ({ group, resource }: GroupVersionResource): Error =>
  internalError(
    `error resolving resource ${groupResource(group, resource)}; please contact APIExport owner to resolve`,
  )

interface Published extends Lender {
  readonly version: string
}

/**
 * From the consumer's binding over the export and its slice to what is published. The export has to name the identity of
 * it: nobody publishes what he only knows the name of.
 */
function publishedFor(
  { informers, shared, resolve }: VirtualResourcesOptions,
  consumer: ClusterName,
  { group, resource }: GroupVersionResource,
): Published | undefined {
  const exported = exportOf(informers, consumer, group, resource)
  if (exported === undefined) return undefined
  const { provider, virtual } = exported
  const slice = sliceOf(informers, provider, virtual.reference)
  if (!conditionIs(slice.status?.conditions, 'APIExportValid', 'True')) return undefined
  const { path, name } = slice.spec.clusterCachedResource
  const cluster = path ? resolve(path) : provider
  if (cluster === undefined) return undefined
  const published = informers.for(resources.clusterCachedResources).get(cluster, '', name)?.object
  const cached = published as ClusterCachedResource | undefined
  const identity = virtual.identityHash
  if (cached?.status?.identityHash !== identity) return undefined
  const { version = '' } = cached.spec
  return { cluster, version, storage: shared.storage({ group, version, resource, identity }, '') }
}

/** The slice that an export refers to: one of kcp's own kind. Throws 500 in kcp's words when there is none. */
function sliceOf(
  informers: Informers,
  provider: ClusterName,
  { apiGroup = '', kind, name }: VirtualStorage['reference'],
): ClusterCachedResourceEndpointSlice {
  if (apiGroup !== 'cache.kcp.io' || kind !== 'ClusterCachedResourceEndpointSlice')
    throw internalError(
      `error resolving resource: no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(apiGroup)}`,
    )
  const found = informers.for(resources.cachedResourceSlices).get(provider, '', name)?.object
  if (found !== undefined) return found as ClusterCachedResourceEndpointSlice
  const { message } = notFound({ ...resources.cachedResourceSlices, name })
  throw internalError(`error resolving resource: ${message}`)
}

/** Where the resource comes from that a logical cluster binds without storing it. */
function exportOf(
  informers: Informers,
  consumer: ClusterName,
  group: string,
  resource: string,
): { readonly provider: ClusterName; readonly virtual: VirtualStorage } | undefined {
  const bindings = informers.for(resources.apiBindings).list(consumer)
  for (const { spec, status } of bindings.map(({ object }) => object as APIBinding)) {
    const bound = status?.boundResources?.find(each => each.group === group && each.resource === resource)
    if (bound === undefined || !isVirtual(bound)) continue
    const provider = status?.apiExportClusterName ?? ''
    const found = informers.for(resources.apiExports).get(provider, '', spec?.reference?.export?.name ?? '')
    const offered = (found?.object as APIExport | undefined)?.spec?.resources
    const { virtual } = offered?.find(each => each.group === group && each.name === resource)?.storage ?? {}
    if (virtual !== undefined) return { provider, virtual }
  }
  return undefined
}
