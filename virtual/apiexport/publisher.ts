import type { UrlPublisher } from '../../framework/index.ts'
import { consumedExport, withEndpoints } from '../shared/exports/endpoints.ts'
import { apiBindings, apiExports, type Exports, endpointSlices } from '../shared/exports/exports.ts'
import type { EndpointSlice, ExportParams } from '../shared/exports/types.ts'

/**
 * Publishes the view's URL in every APIExportEndpointSlice whose conditions are all True and whose export has a
 * consumer (chapter 10, section 9). An export without consumers has no endpoint: clients watch the slice.
 */
export function slicePublisher(exports: Exports): UrlPublisher<ExportParams> {
  return {
    objects: endpointSlices,
    dependsOn: [apiBindings, apiExports],
    views: object => {
      const found = consumedExport(exports, object as EndpointSlice)
      if (found === undefined) return undefined
      return found.isConsumed ? [found.params] : []
    },
    publish: withEndpoints,
  }
}
