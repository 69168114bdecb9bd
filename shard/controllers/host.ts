import type { RingBounds } from '../../framework/cache/ring.ts'
import type { ApiSet, Subresource } from '../../framework/contract/apis.ts'
import type { Authorizer } from '../../framework/contract/authorizer.ts'
import type { Backend, ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { Place } from '../../framework/contract/workspacetree.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { AddressPolicy } from '../../framework/net/addresspolicy.ts'
import type { RegistryPlugin } from '../admission/chain.ts'
import type { Computed } from '../apis/resources.ts'
import type { ClusterContent } from '../bindings/content.ts'
import type { Decorator } from '../cache/item.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from '../tenancy/directory.ts'
import type { Peers } from '../tenancy/peer.ts'
import type { Bindings } from './bindingworld.ts'
import type { ControllerClient } from './client.ts'
import type { Controller } from './controller.ts'

/** What plugins, reviews and controllers are built from. */
export interface ShardHost {
  readonly backend: Backend
  readonly cache: WatchCache
  /** What the shard's views are shown of it. */
  readonly shared: SharedCache
  readonly client: ControllerClient
  readonly content: ClusterContent
  /** The watch cache itself, by ref: never behind a write that was acknowledged. */
  readonly informers: Informers
  readonly log: Logger
  /** Whether a binding says that it serves this APIResourceSchema. */
  readonly isBound: (schemaUid: string) => boolean
}

export interface ShardOptions {
  readonly store: Store
  readonly log: Logger
  /** Ends everything. */
  readonly signal: AbortSignal
  /** Built once, from informers: it becomes `backend.authorizer`. */
  readonly authorizer: (informers: Informers) => Authorizer
  /** Labels that are presented but not stored: by which claims an object is visible. */
  readonly decorate?: (cache: WatchCache) => Decorator
  /** Plugins besides those of plain Kubernetes, in order. */
  readonly admission?: (host: ShardHost) => readonly RegistryPlugin[]
  /** Controllers besides those of plain Kubernetes. */
  readonly controllers?: (host: ShardHost) => readonly Controller[]
  /** Who answers review kinds, by `<plural>.<group>`; those without an answer are not served. */
  readonly reviews?: (
    authorizer: Authorizer,
    informers: Informers,
  ) => Readonly<Record<string, ResourceStorage>>
  /** Endpoints below objects that others answer, by `<plural>.<group>`: `serviceaccounts` → token. */
  readonly subresources?: (informers: Informers) => Readonly<Record<string, readonly Subresource[]>>
  /** What the URLs of workspaces start with, without a trailing slash: mounts of such URLs are links within the tree. */
  readonly externalUrl?: string
  /** Where admission webhooks of workspaces may be: public addresses when absent. */
  readonly webhookAddresses?: AddressPolicy
  /** Objects that are not stored, by `<plural>.<group>`: asked before the store at each get. */
  readonly computed?: (host: ShardHost) => Readonly<Record<string, Computed>>
  /** Told how many objects are loaded, while the shard is opened. */
  readonly loading?: (objects: number) => void
  /** How much of the past of each resource stays in memory. */
  readonly ring?: Partial<RingBounds>
}

/** Embedded logical clusters. */
export interface Shard extends ShardHost {
  readonly controllers: readonly Controller[]
  /** Runs the controllers; resolves when the shard's signal has aborted and they have stopped. */
  run(): Promise<void>
  /** Ends watches and closes the cache; the store stays open. */
  close(): void
}

/** Bound resources of root's exports, with their identities. */
export interface TenancyResources {
  readonly workspaces: ResourceRef
  readonly workspaceTypes: ResourceRef
  readonly partitions: ResourceRef
  readonly shards: ResourceRef
}

/** The shard that this process is. */
export interface ShardIdentity {
  readonly name: string
  /** What clients use, without a trailing slash. */
  readonly externalURL: string
}

/** What kcp's controllers work with. */
export interface KcpControllerDeps extends Bindings {
  readonly client: ControllerClient
  readonly content: ClusterContent
  readonly informers: Informers
  readonly directory: Directory
  readonly tenancy: TenancyResources
  readonly shard: ShardIdentity
  /** The other shards of the tree. */
  readonly peers: Peers
  /** What a cluster serves; undefined when there is no such cluster. */
  readonly apis: (cluster: ClusterName) => ApiSet | undefined
  /** Where a path of workspaces leads, as far as this shard knows. */
  readonly place: (path: string) => Place | undefined
  /** PEM, for `kube-root-ca.crt`. */
  readonly rootCA: string
  readonly log: Logger
}
