import type { UrlPublisher } from '../../framework/index.ts'
import { type APIExportEndpointSlice, resources } from '../../kcp/index.ts'

import { consumedExport, withEndpoints } from '../shared/exports/endpoints.ts'
import type { ExportParams, Exports } from '../shared/exports/exports.ts'

/**
 * Publishes the view's URL in every APIExportEndpointSlice whose conditions are all True and whose export has a
 * binding. Without bindings there is no endpoint.
 */
export function slicePublisher(exports: Exports): UrlPublisher<ExportParams> {
  return {
    objects: resources.endpointSlices,
    dependsOn: [resources.apiBindings, resources.apiExports],
    views: object => {
      const found = consumedExport(exports, object as APIExportEndpointSlice)
      if (found === undefined) return undefined
      return found.isConsumed ? [found.params] : []
    },
    publish: withEndpoints,
  }
}
