import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { Host, Informer, Item } from '../../framework/index.ts'
import {
  type APIExport,
  type ClusterCachedResource,
  type ClusterCachedResourceEndpointSlice,
  cacheGroup,
  type ExportedResource,
  pathAnnotation,
  resources,
} from '../../kcp/index.ts'

import { clusterOf, type ExportParams, type Exports, watchExports } from '../shared/exports/exports.ts'

/** The params of the view's path: the slice's logical cluster, and its name. */
export type SliceParams = { readonly provider: string; readonly slice: string }

/** The resource of a slice: its entry in the export, the schema, and the ClusterCachedResource. */
export interface Publication {
  readonly export: ExportParams
  readonly entry: ExportedResource
  readonly schema: Item
  readonly published: Item
}

/** Slices in memory, kept up to date. */
export interface Slices {
  readonly exports: Exports
  /** undefined unless slice, export and ClusterCachedResource exist, are valid and refer to each other. */
  find(params: SliceParams): Publication | undefined
  /** Calls `changed` when a publication may have changed. */
  onChange(changed: () => void): void
  readonly synced: Promise<unknown>
}

export function watchSlices(host: Host, { informers }: SharedCache): Slices {
  const exports = watchExports(host)
  const slices = informers.for(resources.cachedResourceSlices)
  const published = informers.for(resources.clusterCachedResources)
  const byReference = published.index(({ key, meta }) => {
    const path = meta.annotations[pathAnnotation] ?? key.cluster
    return [...new Set([key.cluster, path])].map(place => `${place}|${key.name}`)
  })
  const sources: readonly Informer[] = [slices, published, exports.exports, exports.schemas]
  return {
    exports,
    find({ provider, slice: name }) {
      const slice = slices.get(provider, '', name)?.object as ClusterCachedResourceEndpointSlice | undefined
      if (slice === undefined || !isValid(slice)) return undefined
      const { clusterCachedResource: reference } = slice.spec
      const found = byReference(`${reference.path || provider}|${reference.name}`)[0]
      return found && publicationOf(exports, slice, found)
    },
    onChange: changed => sources.forEach(source => void source.onEvent(changed)),
    synced: Promise.all([exports.synced, slices.synced, published.synced]),
  }
}

const isValid = ({ status }: ClusterCachedResourceEndpointSlice): boolean =>
  ['ResourceValid', 'APIExportValid'].every(type =>
    status?.conditions?.some(condition => condition.type === type && condition.status === 'True'),
  )

/** The export must name the slice and the identity hash of the ClusterCachedResource: a name alone grants no access. */
function publicationOf(
  exports: Exports,
  slice: ClusterCachedResourceEndpointSlice,
  published: Item,
): Publication | undefined {
  const { path, name } = slice.spec.export
  const found = exports.resolve(path || clusterOf(slice), name)
  const { status } = published.object as ClusterCachedResource
  const entry = (found?.object as APIExport | undefined)?.spec?.resources?.find(
    ({ storage }) =>
      storage?.virtual?.reference.apiGroup === cacheGroup &&
      storage.virtual.reference.kind === 'ClusterCachedResourceEndpointSlice' &&
      storage.virtual.reference.name === slice.metadata.name &&
      storage.virtual.identityHash === status?.identityHash,
  )
  const schema = found && entry && exports.schemas.get(found.key.cluster, '', entry.schema)
  if (found === undefined || entry === undefined || schema === undefined) return undefined
  return { export: { provider: found.key.cluster, name: found.key.name }, entry, schema, published }
}
