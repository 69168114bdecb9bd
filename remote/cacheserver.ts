import type { ResourceRef } from '../framework/contract/backend.ts'
import type { ObjectMeta } from '../framework/contract/item.ts'
import type { Logger } from '../framework/contract/log.ts'
import type { SharedCache } from '../framework/contract/sharedcache.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import { createInformers } from '../framework/informers/informers.ts'
import { viewOf } from '../framework/lens/view.ts'
import type { ShardConnection } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'

export interface CacheServerOptions {
  readonly connection: ShardConnection
  readonly log: Logger
  /** Stops all informers. */
  readonly signal: AbortSignal
}

/** Annotations that kcp's cache server adds to its copies (kcp `pkg/reconciler/cache/replication`). */
const added: ReadonlySet<string> = new Set([
  'kcp.io/shard',
  'cache.kcp.io/original-resource-UID',
  'cache.kcp.io/original-resource-version',
])

/** Reads and writes kcp's cache server below `/services/cache` of a shard or of a separate cache server. */
export function cacheServer({ connection, log, signal }: CacheServerOptions): SharedCache {
  const all = below(connection, '/services/cache/shards/*')
  return {
    informers: createInformers({ storage: ref => remoteStorage(all, unidentified(ref)) }, log, signal),
    storage: (resource, shard) =>
      asPublished(remoteStorage(below(connection, prefixOf(shard || 'root')), resource)),
  }
}

/** The cache server stores objects by group and resource; the paths have no identity hash. */
const unidentified = ({ identity: _, ...ref }: ResourceRef): ResourceRef => ref

/** The path of the copies of a shard. */
export const prefixOf = (shard: string): string => `/services/cache/shards/${encodeURIComponent(shard)}`

/** Published objects without what a cache server adds to its copies. */
export const asPublished = (storage: ResourceStorage): ResourceStorage =>
  viewOf(storage, () => ({ relabel: asOriginal }))

const asOriginal = ({ annotations }: ObjectMeta) => ({
  annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !added.has(key))),
})

const below = (connection: ShardConnection, prefix: string): ShardConnection => ({
  ...connection,
  send: request => connection.send({ ...request, target: prefix + request.target }),
  ask: request => connection.ask({ ...request, target: prefix + request.target }),
})
