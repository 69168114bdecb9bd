import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'

/** A client of another shard of the same tree, with administrator credentials. Errors are `StatusError`s. */
export interface PeerClient {
  /** Lists and watches; writes are refused. */
  storage(resource: ResourceRef): ResourceStorage
  get<T>(path: string, signal: AbortSignal): Promise<T>
  post<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  /** A JSON merge patch. */
  patch<T>(path: string, body: object, signal: AbortSignal): Promise<T>
  delete(path: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Creates the client of the shard at a base URL. */
export type ConnectPeer = (baseURL: string) => PeerClient

/** The other shards that are known now, by name. */
export type Peers = ReadonlyMap<string, PeerClient>
