import type { Host, UrlPublisher } from '../../framework/index.ts'
import { type APIExportEndpointSlice, resources } from '../../kcp/index.ts'

import { consumedExport, endpointUrls, slicesByExport, withEndpoints } from '../shared/exports/endpoints.ts'
import type { ExportParams, Exports } from '../shared/exports/exports.ts'

/**
 * Publishes the view's URL in every APIExportEndpointSlice whose conditions are all True and whose export has a
 * binding on this shard. Other shards add and remove their URLs.
 */
export function slicePublisher(exports: Exports, { informers }: Host): UrlPublisher<ExportParams> {
  return {
    objects: resources.endpointSlices,
    dependsOn: [resources.apiBindings, resources.apiExports],
    dependents: slicesByExport(informers.for(resources.endpointSlices)),
    views: object => {
      const found = consumedExport(exports, object as APIExportEndpointSlice)
      if (found === undefined) return undefined
      return found.isConsumed ? [found.params] : []
    },
    published: endpointUrls,
    shardSelector: object => (object as APIExportEndpointSlice).status?.shardSelector ?? '',
    publish: withEndpoints,
  }
}
