import type { ResourceRef } from './backend.ts'
import type { ResourceStorage } from './storage.ts'

/** A server that has the objects that ClusterCachedResources of shards publish. */
export interface PublishedObjects {
  /** Reads those of a shard. `resource.identity` is that of the published resource. */
  published(resource: ResourceRef, shard: string): ResourceStorage
}

/**
 * A client of another server of the installation, with administrator credentials. Paths begin behind the base URL of the server.
 * Errors are `StatusError`s.
 */
export interface PeerClient extends PublishedObjects {
  /** Lists and watches; writes are refused. */
  storage(resource: ResourceRef): ResourceStorage
  get<T>(path: string, signal: AbortSignal): Promise<T>
  post<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  put<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  /** A JSON merge patch. */
  patch<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  delete(path: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** A cache server. */
export interface CacheServer extends PublishedObjects {
  /** Its copies of the objects of this shard. */
  readonly own: PeerClient
}
