import type { Host, UrlPublisher } from '../../framework/index.ts'
import { type ClusterCachedResourceEndpointSlice, logicalClusterOf, resources } from '../../kcp/index.ts'

import { consumedExport, endpointUrls, slicesByExport, withEndpoints } from '../shared/exports/endpoints.ts'
import type { SliceParams, Slices } from './slices.ts'

/** Publishes the view's URL in every valid slice whose export has a binding on this shard. Other shards add and remove their URLs. */
export const slicePublisher = ({ exports }: Slices, { informers }: Host): UrlPublisher<SliceParams> => ({
  objects: resources.cachedResourceSlices,
  dependsOn: [resources.apiBindings, resources.apiExports],
  dependents: slicesByExport(informers.for(resources.cachedResourceSlices)),
  views: object => {
    const found = consumedExport(exports, object as ClusterCachedResourceEndpointSlice)
    if (found === undefined) return undefined
    return found.isConsumed ? [{ provider: logicalClusterOf(object), slice: object.metadata.name ?? '' }] : []
  },
  published: endpointUrls,
  shardSelector: object => (object as ClusterCachedResourceEndpointSlice).status?.shardSelector ?? '',
  publish: withEndpoints,
})
