import type { ResourceRef } from './backend.ts'
import type { Informers } from './informer.ts'
import type { ResourceStorage } from './storage.ts'

/**
 * Where shards put what all of them may read, kcp's cache server: the definitions of exports, and the objects that
 * ClusterCachedResources publish. In one process it is the shard itself.
 */
export interface SharedCache {
  readonly informers: Informers
  /**
   * Published objects, to be read in the logical cluster that they are from. `resource.identity` is the published
   * resource's; `shard` is the name of the shard that they are on, '' when there is only one.
   */
  storage(resource: ResourceRef, shard: string): ResourceStorage
}
