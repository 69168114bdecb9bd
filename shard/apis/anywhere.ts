import type { ServedKind } from '../../framework/cache/selection.ts'
import type { ApiSet } from '../../framework/contract/apis.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import {
  apiVersionOf,
  type ClusterName,
  type ClusterScope,
  type GroupVersionResource,
  groupResource,
} from '../../framework/meta/object.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { asStored, shapeOf } from '../registry/presentation.ts'
import { readsOf, refuseWrites } from '../registry/storage.ts'
import { selectedAsShown } from './convertedreads.ts'
import { mixedReads } from './mixed.ts'
import { servedKind } from './resources.ts'
import { customSegment, type ServedDefinition } from './served.ts'
import { isStoredAs, type Versions } from './versions.ts'

export interface AnywhereOptions {
  apis(cluster: ClusterScope): ApiSet | undefined
  /** The definitions under which clusters serve the bound resource of an identity. */
  identified(groupResource: string, identity: string): readonly ServedDefinition[]
  boundIn(cluster: ClusterName, groupResource: string, identity: string): ServedDefinition | undefined
  readonly conversionOf: Versions['conversionOf']
  cacheOf(resource: { group: string; resource: string; segment: string }): ResourceCache
  virtual(resource: GroupVersionResource): ResourceStorage
}

/**
 * One resource in any cluster: in a single cluster by its definition, over all clusters by any definition of the
 * identity. Where no cluster serves it, lists are empty and watches have no events.
 */
export function anywhere(options: AnywhereOptions, ref: ResourceRef): ResourceStorage {
  const { group, resource, identity } = ref
  const cache = options.cacheOf({ group, resource, segment: identity ?? customSegment })
  const unserved = stored(options, ref, cache)
  const of = (cluster: ClusterScope): ResourceStorage => servedStorage(options, ref, cluster) ?? unserved()
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

/** The stored objects of all clusters, each by the definition of its cluster, in the requested version. */
function stored(options: AnywhereOptions, ref: ResourceRef, cache: ResourceCache): () => ResourceStorage {
  const { group, version, resource, identity = '' } = ref
  const name = groupResource(group, resource)
  const ways = (): readonly ServedDefinition[] => options.identified(name, identity)
  const mixed = mixedReads({
    version,
    isPlain: () => isPlain(ways(), version, cache),
    asksOthers: () => ways().some(({ definition }) => definition.conversion !== undefined),
    servedOf: ({ key }) => options.boundIn(key.cluster, name, identity),
    conversionOf: options.conversionOf,
  })
  const unknown: ServedKind = { apiVersion: apiVersionOf(group, version), kind: '' }
  return () => {
    const [first] = ways()
    if (first?.isVirtual) return options.virtual({ group, version, resource })
    const kind = first === undefined ? unknown : servedKind(first, version)
    const reads = readsOf({ group, resource, cache, kind, show: asStored })
    const all = { ...mixed(reads), ...refuseWrites({ group, resource }) }
    return isPlain(ways(), version, cache) ? all : selectedAsShown(all, kind)
  }
}

function isPlain(
  [first, ...others]: readonly ServedDefinition[],
  version: string,
  cache: ResourceCache,
): boolean {
  if (first === undefined) return true
  return others.length === 0 && isStoredAs(first, version) && shapeOf(first.definition).covers(cache)
}
