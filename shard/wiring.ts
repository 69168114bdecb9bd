import type { Backend } from '../framework/contract/backend.ts'
import type { Informers } from '../framework/contract/informer.ts'
import type { SharedCache } from '../framework/contract/sharedcache.ts'
import { createWorkspaceTree, type WorkspaceTree } from '../framework/contract/workspacetree.ts'
import { groupResource } from '../framework/meta/object.ts'
import { createAddressPolicy } from '../framework/net/addresspolicy.ts'
import { isServedEverywhere } from '../kcp/resources.ts'
import { nameOfKind } from '../openapi/definitions/definition.ts'
import { kcpKinds } from '../openapi/definitions/kcp/index.ts'
import { builtinKinds, reviewKinds } from '../openapi/definitions/kubernetes/index.ts'
import { orielKinds } from '../openapi/definitions/oriel/index.ts'
import { reviewResourcesOf } from '../openapi/resource.ts'
import { type RegistryPlugin, registryAdmission } from './admission/chain.ts'
import { namespaceProblems, namespacesIn } from './admission/kubernetes/namespace-lifecycle.ts'
import { type ClusterApis, type ClusterApisOptions, createClusterApis } from './apis/clusters.ts'
import { createWatchEnds } from './apis/ends.ts'
import { followDefinitions, followWorkspaces } from './apis/follow.ts'
import { followInactive, type Inactive } from './apis/inactive.ts'
import { type Computed, resourceMaker, type Wiring } from './apis/resources.ts'
import { builtinServed, type ResourcesOf, systemServed } from './apis/served.ts'
import { versioning } from './apis/versions.ts'
import { shardBackend } from './backend.ts'
import type { WatchCache } from './cache/contract.ts'
import { builtinSegment, customSegment } from './cache/segments.ts'
import type { ShardOptions } from './controllers/host.ts'
import { conversionWebhook, newConversions } from './conversion/webhook.ts'
import type { CacheOf } from './informers.ts'
import { sharedCache } from './published/shared.ts'
import { virtualResources } from './published/virtual.ts'
import { openObjectStore } from './registry/registry.ts'
import { amongCopies } from './tenancy/directory.ts'

/** The kinds of kcp and of Oriel that every logical cluster has without binding them. */
const systemKinds = [
  ...kcpKinds.filter(({ group, names }) => isServedEverywhere(group, names.plural)),
  ...orielKinds,
]
const storedKinds = builtinKinds.filter(kind => !reviewKinds.includes(kind))

/** The cache of the objects of a ref. */
export function cacheOfRef(cache: WatchCache): CacheOf {
  const stored = new Set(storedKinds.map(nameOfKind))
  return ({ group, resource, identity }) => {
    const builtin = stored.has(groupResource(group, resource))
    return cache.resource(group, resource, identity ?? (builtin ? builtinSegment : customSegment))
  }
}

/** The dependencies of a backend. */
export interface BackendParts {
  readonly cache: WatchCache
  readonly informers: Informers
  readonly authorizer: Backend['authorizer']
  /** Read at each write: plugins may be added later. */
  readonly plugins: readonly RegistryPlugin[]
  /** Read at each use, too. */
  readonly computed: Readonly<Record<string, Computed>>
}

export interface WiredBackend {
  readonly backend: Backend
  readonly shared: SharedCache
  readonly resourcesOf: ResourcesOf
  readonly isBound: (schemaUid: string) => boolean
  readonly refusalOfWrites: Inactive['refusalOfWrites']
}

function ownUrlsOf({ externalUrl }: ShardOptions): () => readonly string[] {
  const urls = externalUrl === undefined ? [] : [externalUrl]
  return () => urls
}

const refusalsOf = (cache: WatchCache, { refusalOfWrites }: Inactive) => ({
  refusalOfWrites,
  refusalOfCreation: namespaceProblems(namespacesIn(cache)),
})

/** From now on, the resources of logical clusters are those of the cache. */
function follow(cache: WatchCache, clusters: ClusterApis, tree: WorkspaceTree): void {
  followDefinitions(cache, clusters)
  followWorkspaces(cache, tree)
}

/** Connects storage, definitions and the workspace tree to the cache. */
export function wireBackend(options: ShardOptions, parts: BackendParts): WiredBackend {
  const { cache, informers, authorizer, plugins, computed } = parts
  const ends = createWatchEnds((cluster, { id }) => clusters.of(cluster)?.definitions.has(id) === true)
  const inactive = followInactive(cache, ends)
  const refusals = refusalsOf(cache, inactive)
  const conversions = newConversions(options.webhookAddresses ?? createAddressPolicy({ allow: [] }))
  const originOf = (name: string) => options.cacheServer ?? options.peers?.get(name)
  const shared = sharedCache(informers, ref => backend.storage(ref), originOf)
  const wiring: Wiring = {
    cacheOf: ({ group, resource, segment }) => cache.resource(group, resource, segment),
    storeOf: place => openObjectStore(options.store, cache, { ...place, ...refusals }),
    openerOf: definition => clusters.openerOf(definition),
    admission: registryAdmission(plugins),
    ends,
    ...versioning(webhook => conversionWebhook(webhook, conversions)),
    computed,
    virtual: virtualResources({
      informers,
      shared,
      resolve: path => backend.resolve(path) ?? amongCopies(informers, path),
      apis: cluster => backend.apis(cluster),
      viewed: options.viewed,
    }),
    subresources: options.subresources?.(informers) ?? {},
  }
  const resourcesOf = resourceMaker(wiring)
  const served: ClusterApisOptions = {
    system: systemKinds.map(systemServed),
    builtin: storedKinds.map(builtinServed),
    unstored: reviewResourcesOf(options.reviews?.(authorizer, informers) ?? {}),
    resourcesOf,
    ends,
  }
  const clusters = createClusterApis(served)
  const tree = createWorkspaceTree(ownUrlsOf(options))
  follow(cache, clusters, tree)
  const sources = { cache, wiring, served, clusters, tree, authorizer, inactive }
  const backend = shardBackend({ ...sources, store: options.store, hasCopies: options.peers !== undefined })
  return { backend, shared, resourcesOf, isBound: clusters.isBound, ...refusals }
}
