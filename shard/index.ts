import type { Backend } from '../framework/backend.ts'
import { groupResource } from '../framework/object.ts'
import type { KindDefinition } from '../openapi/definitions/definition.ts'
import { kcpKinds } from '../openapi/definitions/kcp/index.ts'
import { builtinKinds, reviewKinds } from '../openapi/definitions/kubernetes/index.ts'
import { apiResourcesOf } from '../openapi/resource.ts'
import { type AdmissionPlugin, admissionChain } from './admission/chain.ts'
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts'
import { type ClusterApisOptions, createClusterApis } from './apis/clusters.ts'
import { createWatchEnds } from './apis/ends.ts'
import { followDefinitions, followWorkspaces } from './apis/follow.ts'
import { resourceMaker, type Wiring } from './apis/resources.ts'
import { builtinSegment, builtinServed, customSegment, systemServed } from './apis/served.ts'
import { createWorkspaceTree } from './apis/tree.ts'
import { shardBackend } from './backend.ts'
import { openWatchCache, type WatchCache } from './cache/watchcache.ts'
import { createClient } from './client.ts'
import { type CacheOf, cacheInformers } from './informers.ts'
import type { Shard, ShardHost, ShardOptions } from './options.ts'
import { openShelf } from './registry/shelf.ts'

export type { Shard, ShardHost, ShardOptions } from './options.ts'

/** The kinds of kcp that every cluster has without binding them (chapter 20, section 6.1). */
const systemKinds = kcpKinds.filter(
  ({ group, names }) =>
    group === 'apis.kcp.io' || (group === 'core.kcp.io' && names.plural === 'logicalclusters'),
)
const storedKinds = builtinKinds.filter(kind => !reviewKinds.includes(kind))
const nameOf = ({ group, names }: KindDefinition): string => groupResource(group, names.plural)

/** Opens the logical clusters of a store: loads everything into memory, and serves it. Controllers start with `run`. */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const { store, log, signal } = options
  const closing = new AbortController()
  const ends = AbortSignal.any([signal, closing.signal])
  const { decorate, ring } = options
  const cache = await openWatchCache(store, {
    log,
    signal: ends,
    ...(decorate === undefined ? {} : { decorate }),
    ...(ring === undefined ? {} : { ring }),
  })
  const plugins: AdmissionPlugin[] = [namespaceLifecycle(namespacesIn(cache))]
  const backend = openBackend(options, cache, plugins)
  const client = createClient({ backend, signal: ends, log })
  const informers = cacheInformers(cacheOf(cache))
  const host: ShardHost = { backend, cache, client, informers, log }
  plugins.push(...(options.admission?.(host) ?? []))
  const controllers = options.controllers?.(host) ?? []
  return {
    ...host,
    controllers,
    run: async () => void (await Promise.all(controllers.map(controller => controller.run(ends)))),
    close() {
      closing.abort()
      cache.close()
    },
  }
}

const namespacesIn = (cache: WatchCache) => {
  const namespaces = cache.resource('', 'namespaces', builtinSegment)
  return (cluster: string, name: string) => namespaces.get({ cluster, namespace: '', name })?.object
}

function openBackend(options: ShardOptions, cache: WatchCache, plugins: readonly AdmissionPlugin[]): Backend {
  const { store } = options
  const ends = createWatchEnds()
  const authorizer = options.authorizer(cacheInformers(cacheOf(cache)))
  const wiring: Wiring = {
    cacheOf: ({ group, resource, segment }) => cache.resource(group, resource, segment),
    shelfOf: resource => openShelf(store, cache, resource),
    admission: admissionChain(plugins),
    ends,
    subresources: options.subresources ?? {},
  }
  const served: ClusterApisOptions = {
    system: systemKinds.map(systemServed),
    builtin: storedKinds.map(builtinServed),
    unstored: reviewResources(options.reviews?.(authorizer) ?? {}),
    resourcesOf: resourceMaker(wiring),
    ends,
  }
  const clusters = createClusterApis(served)
  const tree = createWorkspaceTree()
  followDefinitions(cache, clusters)
  followWorkspaces(cache, tree)
  return shardBackend({ wiring, served, clusters, tree, authorizer })
}

const reviewResources = (storages: Awaited<ReturnType<NonNullable<ShardOptions['reviews']>>>) =>
  reviewKinds.flatMap(kind => {
    const storage = storages[nameOf(kind)]
    if (storage === undefined) return []
    return apiResourcesOf(kind, { storage: () => storage, custom: false, verbs: ['create'] })
  })

/** The cache that has the objects of a ref. */
function cacheOf(cache: WatchCache): CacheOf {
  const stored = new Set(storedKinds.map(nameOf))
  return ({ group, resource, identity }) => {
    const builtin = stored.has(groupResource(group, resource))
    return cache.resource(group, resource, identity ?? (builtin ? builtinSegment : customSegment))
  }
}
