import { aborted } from '../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { createInformers } from '../../framework/informers/informers.ts'
import { type ClusterName, isSystemCluster } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { type Controller, createController, keyOf, parseKey } from '../controllers/controller.ts'
import type { ShardIdentity, TenancyResources } from '../controllers/host.ts'
import { keepCopy, pathInCache } from './cachecopy.ts'
import { admissionConfigurations, isOwn, offered } from './copying.ts'
import type { PublishedCopies } from './publishedcopies.ts'

export interface CacheServerDeps {
  readonly informers: Informers
  readonly tenancy: TenancyResources
  readonly shard: Pick<ShardIdentity, 'name'>
  readonly log: Logger
  /** The cache server, below the path of this shard. */
  readonly cacheServer: PeerClient
  readonly published: PublishedCopies
  /** Resolves with `logicalclustermigrations` of the export of `root`, which shards of kcp follow, too. */
  readonly migrations: Promise<ResourceRef>
}

interface CopiedKind {
  readonly resource: ResourceRef
  /** Copied from logical clusters that offer something to others only. */
  readonly ofProviders: boolean
  /** Copied while it is being deleted, too. */
  readonly whileDeleted?: boolean
  /** Called before the copy is written or removed. */
  readonly before?: (original: Item | undefined, copy: Item | undefined) => Promise<void>
}

/** The kinds that shards of kcp read from a cache server. */
const kindsOf = (tenancy: TenancyResources): readonly CopiedKind[] => [
  ...[...offered(tenancy), resources.cachedResourceSlices, resources.apiResourceSchemas].map(resource => ({
    resource,
    ofProviders: false,
  })),
  ...[
    resources.logicalClusters,
    resources.clusterRoles,
    resources.clusterRoleBindings,
    ...admissionConfigurations,
  ].map(resource => ({ resource, ofProviders: true })),
]

/**
 * Keeps copies of the objects of this shard in a cache server, from which shards of kcp read them, and repairs copies that others
 * have changed (kcp `pkg/reconciler/cache/replication`).
 */
export const cacheServerController = (deps: CacheServerDeps): Controller => ({
  name: 'cacheserver',
  idle: () => Promise.resolve(),
  async run(signal) {
    const there = createInformers(deps.cacheServer, deps.log.child({ server: 'cache' }), signal)
    const kinds = kindsOf(deps.tenancy).map(kind => withPublished(kind, deps.published))
    const migrations = Promise.race([deps.migrations, aborted(signal)]).then(
      resource =>
        resource && copyKind(deps, { resource, ofProviders: false, whileDeleted: true }, there, signal),
    )
    await Promise.all([migrations, ...kinds.map(kind => copyKind(deps, kind, there, signal))])
    await deps.published.stop()
  },
})

/** The objects that a ClusterCachedResource publishes follow its copy. */
const withPublished = (kind: CopiedKind, published: PublishedCopies): CopiedKind =>
  kind.resource === resources.clusterCachedResources
    ? {
        ...kind,
        async before(original, copy) {
          if (copy === undefined) return
          await published.end(copy, original)
          published.begin(copy)
        },
      }
    : kind

/** The cache server stores resources without identities. */
const inCache = ({ group, version, resource }: ResourceRef): ResourceRef => ({ group, version, resource })

/** One kind at a time begins when its copies are known: a cache server of another version may not have all kinds. */
async function copyKind(
  deps: CacheServerDeps,
  kind: CopiedKind,
  caches: Informers,
  signal: AbortSignal,
): Promise<void> {
  const there = caches.for(inCache(kind.resource))
  await Promise.race([there.synced, aborted(signal)])
  if (signal.aborted) return
  const here = deps.informers.for(kind.resource)
  const ofObject = ({ item }: ItemEvent): readonly string[] => [keyOf(item)]
  const inCluster = ({ item }: ItemEvent): readonly string[] => here.list(item.key.cluster).map(keyOf)
  const providers = kind.ofProviders ? offered(deps.tenancy) : []
  const controller = createController(
    {
      name: `copies of ${kind.resource.resource}`,
      reconcile: key => bring(deps, { ...kind, here, there }, key),
      sources: [
        { informer: here, keys: ofObject },
        { informer: there, keys: ofObject },
        ...providers.map(ref => ({ informer: deps.informers.for(ref), keys: inCluster })),
      ],
    },
    deps.log,
  )
  await controller.run(signal)
}

interface Copied extends CopiedKind {
  readonly here: Informer
  readonly there: Informer
}

async function bring(deps: CacheServerDeps, kind: Copied, key: string): Promise<undefined> {
  const { cluster, name } = parseKey(key)
  const original = originalOf(deps, kind, key)
  const copy = kind.there.get(cluster, '', name)
  await kind.before?.(original, copy)
  const path = pathInCache(cluster, inCache(kind.resource))
  const { whileDeleted = false } = kind
  await keepCopy({
    cacheServer: deps.cacheServer,
    shard: deps.shard.name,
    path,
    name,
    original,
    copy,
    whileDeleted,
  })
}

/** undefined for objects that are gone, are copies themselves, or that nobody else needs. */
function originalOf(deps: CacheServerDeps, { here, ofProviders }: Copied, key: string): Item | undefined {
  const { cluster, name } = parseKey(key)
  const found = here.get(cluster, '', name)
  if (found === undefined || !isOwn(found) || isSystemCluster(cluster)) return undefined
  return !ofProviders || isProvider(deps, cluster) ? found : undefined
}

const isProvider = ({ informers, tenancy }: CacheServerDeps, cluster: ClusterName): boolean =>
  offered(tenancy).some(ref => informers.for(ref).list(cluster).some(isOwn))
