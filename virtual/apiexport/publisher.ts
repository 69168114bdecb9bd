import type { KubeObject, UrlPublisher } from '../../framework/index.ts'
import { apiBindings, apiExports, type Exports, endpointSlices } from '../exports/exports.ts'
import type { APIExportEndpointSlice, ExportParams } from '../exports/types.ts'

/**
 * Publishes the view's URL in every APIExportEndpointSlice whose conditions are all True and whose export has a
 * consumer (chapter 10, section 9). An export without consumers has no endpoint: clients watch the slice.
 */
export function slicePublisher(exports: Exports): UrlPublisher<ExportParams> {
  return {
    objects: endpointSlices,
    dependsOn: [apiBindings, apiExports],
    views: object => {
      const { metadata, spec, status } = object as APIExportEndpointSlice
      if (!status?.conditions?.length || status.conditions.some(c => c.status !== 'True')) return undefined
      const path = spec.export.path || clusterOf(metadata.annotations)
      const found = exports.resolve(path, spec.export.name)
      if (found === undefined) return undefined
      const params = { provider: found.key.cluster, name: found.key.name }
      return exports.bindingsOf(params).length > 0 ? [params] : []
    },
    publish: (object, urls) => (same(object, urls) ? object : withEndpoints(object, urls)),
  }
}

const clusterOf = (annotations: KubeObject['metadata']['annotations']): string =>
  annotations?.['kcp.io/cluster'] ?? ''

const same = (object: KubeObject, urls: readonly string[]): boolean => {
  const current = (object as APIExportEndpointSlice).status?.endpoints ?? []
  return current.length === urls.length && current.every((endpoint, i) => endpoint.url === urls[i])
}

const withEndpoints = (object: KubeObject, urls: readonly string[]): KubeObject => ({
  ...object,
  status: { ...(object as APIExportEndpointSlice).status, endpoints: urls.map(url => ({ url })) },
})
