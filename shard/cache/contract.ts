import type { RingBounds } from '../../framework/cache/ring.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import type { StoredResource } from './codec.ts'
import type { Decorator, WatchCacheEvent } from './item.ts'
import type { ResourceCache } from './resource.ts'

export interface WatchCacheOptions {
  readonly log: Logger
  /** Closes the cache. */
  readonly signal: AbortSignal
  /**
   * Creates the decorator, before any item is decorated and before events are replayed: it subscribes to the
   * resources that it needs.
   */
  readonly decorate?: (cache: WatchCache) => Decorator
  readonly ring?: Partial<RingBounds>
  /** Bytes of the events of all resources that are kept; 256 MiB when absent. */
  readonly mostHistory?: number
  /** Milliseconds between the bookmarks of one watch; a minute when absent. */
  readonly bookmarkEvery?: number
  /** Milliseconds that a reader waits for a resourceVersion that the cache has not reached; default: 3000. */
  readonly waitTimeout?: number
  /** Called with the number of loaded objects from time to time during the load. */
  readonly loading?: (objects: number) => void
}

/** All objects below `/registry/`, in memory and up to date. */
export interface WatchCache {
  /** The newest applied revision. */
  readonly revision: number
  /** Bytes of the events that are kept for watches. */
  readonly historyBytes: number
  /** The same cache for the same resource while it is in use, whether it has objects or not. `group` is '' for core. */
  resource(group: string, resource: string, segment: string): ResourceCache
  /** The same; undefined where nothing has used it, so that it has no objects: for names that tenants write. */
  existing(group: string, resource: string, segment: string): ResourceCache | undefined
  resources(): Iterable<ResourceCache>
  /**
   * Resolves when `revision` is applied, so that a writer reads its write. Rejects when the cache is closed before.
   */
  at(revision: number): Promise<void>
  /** Resolves at `revision`, when `signal` aborts, after `milliseconds`, or when the cache is closed. */
  reached(revision: number, signal: AbortSignal, milliseconds: number): Promise<void>
  /** Calls `handler` for every change of any resource from now on, after the resource's own handlers. */
  subscribe(handler: (cache: ResourceCache, event: WatchCacheEvent) => void): () => void
  /**
   * Decorates the objects of a logical cluster again, between the turns of other work and before the next change is applied;
   * those that change are MODIFIED at `revision`. Call it while the event of `revision` that causes it is applied, so that
   * watches can resume across it.
   */
  redecorate(resource: StoredResource, cluster: ClusterScope, revision: number): void
  close(): void
}
