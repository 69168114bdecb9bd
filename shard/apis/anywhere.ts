import type { ApiSet } from '../../framework/apis.ts'
import type { ResourceRef } from '../../framework/backend.ts'
import {
  apiVersionOf,
  type ClusterScope,
  type GroupVersionResource,
  groupResource,
} from '../../framework/object.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import type { ResourceCache } from '../cache/resource.ts'
import type { ServedKind } from '../cache/selection.ts'
import { readsOf, refuseWrites } from '../registry/storage.ts'
import { servedKind } from './resources.ts'
import { customSegment, type Served } from './served.ts'
import type { InVersion } from './versions.ts'

export interface AnywhereOptions {
  apis(cluster: ClusterScope): ApiSet | undefined
  identified(groupResource: string, identity: string): Served | undefined
  readonly inVersion: InVersion
  cacheOf(resource: { group: string; resource: string; segment: string }): ResourceCache
  virtual(resource: GroupVersionResource): ResourceStorage
}

/**
 * One resource wherever it is served: in a single cluster by that cluster's definition, over all clusters by any
 * definition of the identity. Where nobody serves it, it is empty and silent.
 */
export function anywhere(options: AnywhereOptions, ref: ResourceRef): ResourceStorage {
  const { group, resource, identity } = ref
  const cache = options.cacheOf({ group, resource, segment: identity ?? customSegment })
  const nowhere = refuseWrites({ group, resource })
  const of = (cluster: ClusterScope): ResourceStorage =>
    servedStorage(options, ref, cluster) ?? { ...stored(options, ref, cache), ...nowhere }
  return {
    get: (ctx, key) => of(key.cluster).get(ctx, key),
    list: (ctx, query) => of(query.cluster).list(ctx, query),
    watch: (ctx, query) => of(query.cluster).watch(ctx, query),
    create: (ctx, key, object, write) => of(key.cluster).create(ctx, key, object, write),
    update: (ctx, key, change, write) => of(key.cluster).update(ctx, key, change, write),
    delete: (ctx, key, check, write) => of(key.cluster).delete(ctx, key, check, write),
  }
}

/** The storage that one cluster's ApiSet has; undefined for `*` and where the cluster does not serve the resource. */
function servedStorage(
  { apis }: AnywhereOptions,
  { group, version, resource, identity, subresource = '' }: ResourceRef,
  cluster: ClusterScope,
): ResourceStorage | undefined {
  if (cluster === '*') return undefined
  const plural = identity === undefined ? resource : `${resource}:${identity}`
  const served = apis(cluster)?.find(group, version, plural)
  if (subresource === '') return served?.storage
  return served?.subresources.find(each => each.name === subresource)?.storage
}

/** All stored objects, of whichever clusters, in the version that is asked for. */
function stored(
  { identified, inVersion, virtual }: AnywhereOptions,
  { group, version, resource, identity }: ResourceRef,
  cache: ResourceCache,
): ResourceStorage {
  const served = identity === undefined ? undefined : identified(groupResource(group, resource), identity)
  if (served?.isVirtual) return virtual({ group, version, resource })
  const unknown: ServedKind = { apiVersion: apiVersionOf(group, version), kind: '' }
  const kind = served === undefined ? unknown : servedKind(served, version)
  const reads = { ...readsOf({ group, resource, cache, kind }), ...refuseWrites({ group, resource }) }
  return served === undefined ? reads : inVersion(reads, served, version)
}
