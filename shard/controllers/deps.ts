import type { ApiSet } from '../../framework/contract/apis.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { Place } from '../../framework/contract/workspacetree.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { ClusterContent } from '../bindings/content.ts'
import type { Directory } from '../tenancy/directory.ts'
import type { Peers } from '../tenancy/peer.ts'
import type { Bindings } from './bindingworld.ts'
import type { ControllerClient } from './client.ts'

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
