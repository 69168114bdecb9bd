import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { Host, Informer, Item } from '../../framework/index.ts'
import {
  type APIExport,
  type ClusterCachedResource,
  type ClusterCachedResourceEndpointSlice,
  cacheGroup,
  type ExportedResource,
  logicalClusterOf,
  pathAnnotation,
  resources,
} from '../../kcp/index.ts'
import {
  dependencyOn,
  type ExportParams,
  type Exports,
  exportOf,
  watchExports,
} from '../shared/exports/exports.ts'

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
  /** Calls `changed` with what publications depend on when it has changed (`dependenciesOf`). */
  onChange(changed: (dependencies: readonly string[]) => void): void
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
  const sources: Readonly<Record<string, Informer>> = {
    slice: slices,
    published,
    export: exports.exports,
    schema: exports.schemas,
  }
  return {
    exports,
    find({ provider, slice: name }) {
      const slice = slices.get(provider, '', name)?.object as ClusterCachedResourceEndpointSlice | undefined
      if (slice === undefined || !isValid(slice)) return undefined
      const { clusterCachedResource: reference } = slice.spec
      const found = byReference(`${reference.path || provider}|${reference.name}`)[0]
      return found && publicationOf(exports, slice, found)
    },
    onChange(changed) {
      for (const [kind, source] of Object.entries(sources))
        source.onEvent(({ item }) => changed([dependencyOn(kind, item.key)]))
    },
    synced: Promise.all([exports.synced, slices.synced, published.synced]),
  }
}

/** What the publication of a slice depends on. */
export const dependenciesOf = (
  { provider, slice }: SliceParams,
  { export: exported, schema, published }: Publication,
): readonly string[] => [
  dependencyOn('slice', { cluster: provider, name: slice }),
  dependencyOn('published', published.key),
  dependencyOn('export', exportOf(exported)),
  dependencyOn('schema', schema.key),
]

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
  const found = exports.resolve(path || logicalClusterOf(slice), name)
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
