import type { RingBounds } from '../../framework/cache/ring.ts'
import type { ApiSet, Subresource } from '../../framework/contract/apis.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PublishedObjects } from '../../framework/contract/peer.ts'
import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { Outbound } from '../../framework/contract/upstream.ts'
import type { Place } from '../../framework/contract/workspacetree.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { AddressPolicy } from '../../framework/net/addresspolicy.ts'
import type { RegistryPlugin } from '../admission/chain.ts'
import type { Computed } from '../apis/resources.ts'
import type { BoundSets } from '../bindings/boundsets.ts'
import type { ClusterContent } from '../bindings/content.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { Decorator } from '../cache/item.ts'
import type { ViewedResources } from '../published/viewed.ts'
import type { Store } from '../store/store.ts'
import type { ClusterDirectory } from '../tenancy/directory.ts'
import type { ConnectPeer, Peers } from '../tenancy/peer.ts'
import type { Bindings } from './bindingdependencies.ts'
import type { ControllerClient } from './client.ts'
import type { Controller } from './controller.ts'

/** The dependencies of plugins, reviews and controllers. */
export interface ShardHost {
  readonly backend: Backend
  readonly cache: WatchCache
  /** The shared cache for the views of the shard. */
  readonly shared: SharedCache
  readonly client: ControllerClient
  readonly content: ClusterContent
  /** Informers over the watch cache, which has all acknowledged writes. */
  readonly informers: Informers
  readonly log: Logger
  /** Whether a binding serves this APIResourceSchema. */
  readonly isBound: (schemaUid: string) => boolean
}

export interface ShardOptions {
  readonly store: Store
  readonly log: Logger
  /** Stops the shard. */
  readonly signal: AbortSignal
  /** Called once; the result becomes `backend.authorizer`. */
  readonly authorizer: (informers: Informers, bound: BoundSets) => Authorizer
  /** Labels that are added to objects when they are read, such as claim labels. */
  readonly decorate?: (cache: WatchCache) => Decorator
  /** Plugins besides those of plain Kubernetes, in order. */
  readonly admission?: (host: ShardHost) => readonly RegistryPlugin[]
  /** Controllers besides those of plain Kubernetes. */
  readonly controllers?: (host: ShardHost) => readonly Controller[]
  /** Storages of review kinds, by `<plural>.<group>`; other review kinds are not served. */
  readonly reviews?: (
    authorizer: Authorizer,
    informers: Informers,
  ) => Readonly<Record<string, ResourceStorage>>
  /** Additional subresources, by `<plural>.<group>`, such as `serviceaccounts/token`. */
  readonly subresources?: (informers: Informers) => Readonly<Record<string, readonly Subresource[]>>
  /** The prefix of workspace URLs, without a trailing slash: mounts with such URLs are links within the tree. */
  readonly externalUrl?: string
  /** Allowed addresses of admission webhooks; public addresses by default. */
  readonly webhookAddresses?: AddressPolicy
  /** Computed objects, by `<plural>.<group>`: looked up before the store at each get. */
  readonly computed?: (host: ShardHost) => Readonly<Record<string, Computed>>
  /** The resources of View objects, which exports can offer with virtual storage; absent: they cannot. */
  readonly viewed?: ViewedResources
  /** The other shards of the tree; absent: none. */
  readonly peers?: Peers
  /** Has the published objects of the other shards; absent: those shards have them. */
  readonly cacheServer?: PublishedObjects
  /** Called with the number of loaded objects while the shard opens. */
  readonly loading?: (objects: number) => void
  /** Milliseconds that events of `v1` are kept after their last change; 0: for ever; default: an hour. */
  readonly eventTtl?: number
  /** The bounds of the event history of each resource. */
  readonly ring?: Partial<RingBounds>
}

/** Embedded logical clusters. */
export interface EmbeddedShard extends ShardHost {
  readonly controllers: readonly Controller[]
  /**
   * Runs the controllers, those of a shared store while this server is the leader; resolves when `until` has aborted and they
   * have stopped. Default: the signal of the shard, with which the leader cannot release its Lease.
   */
  run(until?: AbortSignal): Promise<void>
  /** Ends watches and closes the cache; the store stays open. */
  close(): void
}

/** The resources of root's exports, with their identities. */
export interface TenancyResources {
  readonly workspaces: ResourceRef
  readonly workspaceTypes: ResourceRef
  readonly partitions: ResourceRef
  readonly partitionSets: ResourceRef
  readonly shards: ResourceRef
}

/** The shard that this process is. */
export interface ShardIdentity {
  readonly name: string
  /** The URL for clients, without a trailing slash. */
  readonly externalURL: string
  /** The URL for other shards. */
  readonly baseURL: string
  /** The prefix of the URLs of its views. */
  readonly virtualWorkspaceURL: string
}

/** The dependencies of kcp's controllers. */
export interface KcpControllerDeps extends Bindings {
  readonly client: ControllerClient
  readonly content: ClusterContent
  readonly informers: Informers
  readonly directory: ClusterDirectory
  readonly tenancy: TenancyResources
  readonly shard: ShardIdentity
  /** The other shards of the tree. */
  readonly peers: Peers
  /**
   * Connects to the views of a shard as a member of `system:kcp:external-logical-cluster-admin`, to whom alone a shard of kcp gives the
   * entries of a logical cluster; absent: like all other requests.
   */
  readonly connectViews?: ConnectPeer
  /** The resources of a logical cluster; undefined when it does not exist. */
  readonly apis: (cluster: ClusterName) => ApiSet | undefined
  /** Resolves a path of workspaces from the objects of this shard. */
  readonly place: (path: string) => Place | undefined
  /** Why requests for mounts are not sent to a URL; undefined when they are. Absent: all URLs are allowed. */
  readonly mountRefusal?: Outbound['refusalOf']
  /** PEM, for `kube-root-ca.crt`. */
  readonly rootCA: string
  readonly log: Logger
}
