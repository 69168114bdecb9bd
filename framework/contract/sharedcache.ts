import type { ResourceRef } from './backend.ts'
import type { Informers } from './informer.ts'
import type { ResourceStorage } from './storage.ts'

/**
 * kcp's cache server, which has copies of the API definitions of all shards and of the objects that
 * ClusterCachedResources publish. With one shard it is the shard itself.
 */
export interface SharedCache {
  readonly informers: Informers
  /**
   * Published objects in the logical cluster of the originals. `resource.identity` is that of the published resource;
   * `shard` is the name of their shard, '' with one shard.
   */
  storage(resource: ResourceRef, shard: string): ResourceStorage
}
