import type { Informers } from '../../framework/contract/informer.ts'
import { oncePerItem } from '../../framework/contract/onceperitem.ts'
import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { type CrossClusterSource, crossClusterRead } from '../../framework/informers/crossclusterread.ts'
import { notServed } from '../../framework/meta/errors.ts'
import type { ClusterName, GroupVersionResource } from '../../framework/meta/object.ts'
import type { APIBinding, APIExport, BoundAPIResource } from '../../kcp/apis.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import { conditionIs } from '../../kcp/conditions.ts'
import { resources } from '../../kcp/resources.ts'
import { isVirtual } from '../apis/served.ts'
import { type Offer, type SliceSources, sliceOf, unresolved } from './slices.ts'
import { isOfView, type ViewedResources, viewedBy } from './viewed.ts'

export interface VirtualResourcesOptions extends SliceSources {
  readonly shared: SharedCache
  readonly resolve: (path: string) => ClusterName | undefined
  readonly viewed?: ViewedResources | undefined
}

/** Serves bound resources with virtual storage from the published objects. */
export function virtualResources(
  options: VirtualResourcesOptions,
): (resource: GroupVersionResource) => ResourceStorage {
  return resource =>
    crossClusterRead(resource, ({ cluster }) => {
      const found = publishedFor(options, cluster, resource)
      if (found === undefined) throw unresolved(resource)
      if (found.version !== resource.version) throw notServed()
      return found
    })
}

interface Published extends CrossClusterSource {
  readonly version: string
}

/**
 * Resolves the binding, its export and the slice to the ClusterCachedResource. The export must state its identity
 * hash: a name alone grants no access.
 */
function publishedFor(
  options: VirtualResourcesOptions,
  consumer: ClusterName,
  wanted: GroupVersionResource,
): Published | undefined {
  const { informers, shared, resolve } = options
  const offer = offerOf(informers, consumer, wanted)
  if (offer === undefined) return undefined
  const { provider, virtual } = offer
  const { group, resource } = wanted
  if (isOfView(offer))
    return {
      cluster: provider,
      version: wanted.version,
      storage: viewedBy({ informers, viewed: options.viewed }, offer),
    }
  const slice = sliceOf(options, offer)
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

/** The resources with virtual storage that a binding binds, and its export. */
interface Bound {
  readonly bound: readonly Pick<BoundAPIResource, 'group' | 'resource'>[]
  readonly provider: ClusterName
  readonly name: string
}

const boundBy = ({ spec, status }: APIBinding): Bound => ({
  bound: (status?.boundResources ?? []).filter(isVirtual).map(({ group, resource }) => ({ group, resource })),
  provider: status?.apiExportClusterName ?? '',
  name: spec?.reference?.export?.name ?? '',
})

const virtualIn = oncePerItem(({ object }) => boundBy(object as APIBinding))

/** The source of a bound resource with virtual storage. */
function offerOf(
  informers: Informers,
  consumer: ClusterName,
  wanted: GroupVersionResource,
): Offer | undefined {
  const { group, resource } = wanted
  for (const item of informers.for(resources.apiBindings).list(consumer)) {
    const { bound, provider, name } = virtualIn(item)
    if (!bound.some(each => each.group === group && each.resource === resource)) continue
    const found = informers.for(resources.apiExports).get(provider, '', name)
    const offered = (found?.object as APIExport | undefined)?.spec?.resources
    const { virtual } = offered?.find(each => each.group === group && each.name === resource)?.storage ?? {}
    if (virtual !== undefined) return { resource: wanted, provider, virtual }
  }
  return undefined
}
