import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import { type ObjectMeta, originAnnotation } from '../../framework/contract/item.ts'
import type { PublishedObjects } from '../../framework/contract/peer.ts'
import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ResourceStorage, WatchQuery } from '../../framework/contract/storage.ts'
import type { Lens } from '../../framework/lens/lens.ts'
import { readOnly, viewOf } from '../../framework/lens/view.ts'
import { expired, notServed, serviceUnavailable } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope } from '../../framework/meta/object.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import { resources } from '../../kcp/resources.ts'
import { requirementsOf } from '../../kcp/selector.ts'
import { followSelections, type PublishedSelection } from './selections.ts'

/** The server that has the published objects of another shard; undefined while it is not known. */
export type OriginOf = (shard: string) => PublishedObjects | undefined

/**
 * The shared cache of a shard: its published objects are the stored objects that the ClusterCachedResource selects; those of
 * another shard are read from their origin.
 */
export function sharedCache(
  informers: Informers,
  storage: Backend['storage'],
  originOf: OriginOf,
): SharedCache {
  const selections = followSelections(informers.for(resources.clusterCachedResources))
  return {
    informers,
    storage: ({ identity = '', ...resource }) => {
      const isOfResource = (selection: PublishedSelection): boolean => publishes(selection, resource)
      const find = (cluster: ClusterName): PublishedSelection => {
        const found = selections.in(identity, cluster).find(isOfResource)
        if (found === undefined) throw notServed()
        return found
      }
      const here = viewOf(storage(resource), ({ cluster }) => lensOf(find(cluster)))
      const everywhere = viewOf(storage(resource), () => ({
        matches: meta =>
          selections.in(identity, meta.cluster).some(each => isOfResource(each) && isSelected(each, meta)),
      }))
      const there = (shard: string): ResourceStorage =>
        known(originOf, shard).published({ ...resource, identity }, shard)
      return publishedStorage(resource, cluster => {
        if (cluster === '*') return { ...selections.all(identity), storage: everywhere }
        const selection = find(cluster)
        const shard = selection.item.meta.annotations[originAnnotation]
        // Versions of another shard are not those of this one, and it refuses old ones itself.
        return shard === undefined
          ? { ...selection, storage: here }
          : { ...selection, since: 0, storage: there(shard) }
      })
    },
  }
}

function known(originOf: OriginOf, shard: string): PublishedObjects {
  const origin = originOf(shard)
  if (origin !== undefined) return origin
  throw serviceUnavailable(`the shard ${JSON.stringify(shard)} of the published objects is not known`)
}

const specOf = ({ item }: PublishedSelection): ClusterCachedResource['spec'] =>
  (item.object as ClusterCachedResource).spec

function publishes(selection: PublishedSelection, wanted: ResourceRef): boolean {
  const { group = '', version, resource } = specOf(selection)
  return resource === wanted.resource && group === wanted.group && version === wanted.version
}

/** The storage that published objects are read from, from a revision on, and until their selection ends. */
interface PublishedSource extends Pick<PublishedSelection, 'since' | 'ended'> {
  readonly storage: ResourceStorage
}

function publishedStorage(
  resource: ResourceRef,
  find: (cluster: ClusterScope) => PublishedSource,
): ResourceStorage {
  return readOnly(resource, {
    get: async (ctx, key) => find(ctx.cluster).storage.get(ctx, key),
    list: (ctx, query) => find(ctx.cluster).storage.list(ctx, query),
    async *watch(ctx, query) {
      const { since, ended, storage } = find(ctx.cluster)
      refuseOlder(since, query)
      yield* storage.watch({ ...ctx, signal: AbortSignal.any([ctx.signal, ended]) }, query)
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

/** Objects of other shards are not here. */
function isSelected(selection: PublishedSelection, { labels }: ObjectMeta): boolean {
  const { labelSelector } = specOf(selection)
  if (selection.item.meta.annotations[originAnnotation] !== undefined) return false
  return labelSelector === undefined || matchesLabels(requirementsOf(labelSelector), labels)
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
