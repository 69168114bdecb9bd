import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ResourceStorage, WatchQuery } from '../../framework/contract/storage.ts'
import type { Lens } from '../../framework/lens/lens.ts'
import { readOnly, viewOf } from '../../framework/lens/view.ts'
import { expired, notServed } from '../../framework/meta/errors.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import { resources } from '../../kcp/resources.ts'
import { requirementsOf } from '../../kcp/selector.ts'
import { followSelections, type PublishedSelection } from './selections.ts'

/**
 * The shared cache of a single shard: nothing is copied. Published objects are the stored objects that the
 * ClusterCachedResource selects.
 */
export function sharedCache(informers: Informers, storage: Backend['storage']): SharedCache {
  const selections = followSelections(informers.for(resources.clusterCachedResources))
  return {
    informers,
    storage: ({ identity = '', ...resource }) => {
      const find = (cluster: ClusterScope): PublishedSelection => {
        const found = selections(identity, cluster).find(selection => publishes(selection, resource))
        if (found === undefined) throw notServed()
        return found
      }
      return publishedStorage(storage(resource), resource, find)
    },
  }
}

const specOf = ({ item }: PublishedSelection): ClusterCachedResource['spec'] =>
  (item.object as ClusterCachedResource).spec

function publishes(selection: PublishedSelection, wanted: ResourceRef): boolean {
  const { group = '', version, resource } = specOf(selection)
  return resource === wanted.resource && group === wanted.group && version === wanted.version
}

function publishedStorage(
  storage: ResourceStorage,
  resource: ResourceRef,
  find: (cluster: ClusterScope) => PublishedSelection,
): ResourceStorage {
  const view = viewOf(storage, ({ cluster }) => lensOf(find(cluster)))
  return readOnly(resource, {
    get: view.get,
    list: view.list,
    async *watch(ctx, query) {
      const { since, ended } = find(ctx.cluster)
      refuseOlder(since, query)
      yield* view.watch({ ...ctx, signal: AbortSignal.any([ctx.signal, ended]) }, query)
      // The watch cannot report objects that are no longer published: the client must list again.
      if (ended.aborted && !ctx.signal.aborted) throw expired('other objects are published now')
    },
  })
}

function refuseOlder(since: number, { resourceVersion = '', initialEvents }: WatchQuery): void {
  if (initialEvents || resourceVersion === '' || resourceVersion === '0') return
  if (Number(resourceVersion) < since)
    throw expired(`too old resource version: ${resourceVersion} (other objects are published since ${since})`)
}

function lensOf(selection: PublishedSelection): Lens {
  const { labelSelector } = specOf(selection)
  if (labelSelector === undefined) return {}
  const { requirements } = requirementsOf(labelSelector)
  return {
    narrow: query => ({
      ...query,
      labels: { requirements: [...(query.labels?.requirements ?? []), ...requirements] },
    }),
  }
}
