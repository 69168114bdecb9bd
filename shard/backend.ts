import { LRUCache } from 'lru-cache'
import { type ApiSet, storageOfRef } from '../framework/contract/apis.ts'
import type { Authorizer } from '../framework/contract/authorizer.ts'
import type { Backend, ResourceRef } from '../framework/contract/backend.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import type { WorkspaceTree } from '../framework/contract/workspacetree.ts'
import { notServed } from '../framework/meta/errors.ts'
import { type ClusterName, type ClusterScope, resourceId } from '../framework/meta/object.ts'
import { dumpsPath } from '../kcp/migration.ts'
import { resolveHome } from '../kcp/names.ts'
import { anywhere } from './apis/anywhere.ts'
import { type ClusterApis, type ClusterApisOptions, compose } from './apis/clusters.ts'
import { dumpResponse } from './apis/dumps.ts'
import type { Inactive } from './apis/inactive.ts'
import type { Wiring } from './apis/resources.ts'
import { wildcardApis } from './apis/wildcard.ts'
import { catchUp } from './cache/catchup.ts'
import type { WatchCache } from './cache/contract.ts'
import type { Store } from './store/store.ts'

export interface BackendOptions {
  readonly store: Store
  readonly cache: WatchCache
  readonly wiring: Wiring
  readonly served: ClusterApisOptions
  readonly clusters: ClusterApis
  readonly tree: WorkspaceTree
  readonly authorizer: Authorizer
  readonly inactive: Inactive
  /** Whether there are copies of objects of other shards. */
  readonly hasCopies: boolean
}

/** Storages that are remembered: tenants choose the names of resources and the identities of exports. */
const mostStorages = 10_000

/** The embedded shard as a backend. */
export function shardBackend(options: BackendOptions): Backend {
  const { store, cache, wiring, served, clusters, tree, authorizer, inactive, hasCopies } = options
  const common = compose(served, [])
  const storages = new LRUCache<string, ResourceStorage>({ max: mostStorages })
  const apis = (cluster: ClusterScope): ApiSet | undefined =>
    cluster === '*' ? wildcard : clusters.of(cluster)
  const storage = (ref: ResourceRef): ResourceStorage => {
    const known = storages.get(resourceId(ref))
    if (known !== undefined) return known
    const made = storageOfRef(common, ref) ?? anywhere({ ...wiring, ...clusters, apis }, ref)
    storages.set(resourceId(ref), made)
    return made
  }
  const exists = (cluster: ClusterName): boolean => clusters.of(cluster) !== undefined
  const wildcard = wildcardApis({
    cache,
    common,
    clusters,
    storage,
    hasCopies,
    resourcesOf: served.resourcesOf,
  })
  return {
    authorizer,
    storage,
    apis,
    resolve: path => tree.resolve(resolveHome(path), exists),
    place: path => tree.place(resolveHome(path), exists),
    refusal: (...request) => inactive.refusal(...request),
    refusalToAll: (...request) => inactive.refusalToAll(...request),
    ...(store.isShared && { caughtUp: signal => catchUp(store, cache, signal) }),
    async forward({ cluster, info, user }, request) {
      if (cluster === '*' || info.path !== dumpsPath || request.method !== 'POST') throw notServed()
      return dumpResponse(options, { cluster, user }, request)
    },
  }
}
