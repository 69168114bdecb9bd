import type { Informer, Item, KubeObject } from '../../../framework/index.ts'
import {
  type APIBinding,
  type APIExportEndpointSlice,
  type ClusterCachedResourceEndpointSlice,
  logicalClusterOf,
} from '../../../kcp/index.ts'
import type { ExportParams, Exports } from './exports.ts'

/**
 * The export of a slice, and whether it has bindings: without bindings the slice has no URL. undefined while a
 * condition of the slice is not True.
 */
export function consumedExport(
  exports: Exports,
  slice: APIExportEndpointSlice | ClusterCachedResourceEndpointSlice,
): { readonly params: ExportParams; readonly isConsumed: boolean } | undefined {
  const { spec, status } = slice
  if (!status?.conditions?.length || status.conditions.some(c => c.status !== 'True')) return undefined
  const reference = spec?.export
  const found = reference && exports.resolve(reference.path || logicalClusterOf(slice), reference.name)
  if (found === undefined) return undefined
  const params = { provider: found.key.cluster, name: found.key.name }
  return { params, isConsumed: exports.bindingsOf(params).length > 0 }
}

/**
 * Finds the slices whose export may be that of a binding, or the export itself: by its name, because a path may lead to another logical
 * cluster later.
 */
export function slicesByExport(slices: Informer): (changed: KubeObject) => readonly Item[] {
  const byName = slices.index(({ object }) => [(object as APIExportEndpointSlice).spec?.export?.name ?? ''])
  return changed => {
    const bound = (changed as APIBinding).spec?.reference?.export?.name
    return byName((changed.kind === 'APIBinding' ? bound : changed.metadata.name) ?? '')
  }
}

/** The URLs in the status of a slice or of a View. */
export const endpointUrls = (object: KubeObject): readonly string[] =>
  (object as APIExportEndpointSlice).status?.endpoints?.map(({ url }) => url) ?? []

/** The slice or View with these URLs in its status; the same object when nothing changes. */
export function withEndpoints(object: KubeObject, urls: readonly string[]): KubeObject {
  const { status } = object as APIExportEndpointSlice
  const current = endpointUrls(object)
  if (current.length === urls.length && current.every(url => urls.includes(url))) return object
  return { ...object, status: { ...status, endpoints: urls.map(url => ({ url })) } }
}
