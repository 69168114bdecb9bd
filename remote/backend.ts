import type { Backend } from '../framework/contract/backend.ts'
import type { Informers } from '../framework/contract/informer.ts'
import type { Logger } from '../framework/contract/log.ts'
import type { SharedCache } from '../framework/contract/sharedcache.ts'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import type { OtherShards } from '../framework/contract/workspace.ts'
import { createInformers } from '../framework/informers/informers.ts'
import { resourceId } from '../framework/meta/object.ts'
import { commonApis } from './apis.ts'
import { reviewAuthorizer } from './authorizer.ts'
import { cacheServer } from './cacheserver.ts'
import type { ShardConnection } from './connection/connection.ts'
import { Copies } from './copy/copies.ts'
import { createDirectory } from './directory.ts'
import { forward } from './forwarding.ts'
import { informerStorage } from './informing.ts'
import { otherShards } from './othershards.ts'
import { ListCoalescer } from './reading/listcoalescer.ts'
import { remoteStorage } from './storage.ts'

export interface RemoteShardOptions {
  readonly connection: ShardConnection
  /** Connection to the logical clusters of all shards. Default: only this shard is used. */
  readonly everywhere?: ShardConnection
  /** Connection to the cache server. Default: the shard's own cache server. */
  readonly cache?: ShardConnection
  readonly log: Logger
  /** Stops all informers. */
  readonly signal: AbortSignal
}

/** A shard in another process, with the contracts that views use. */
export interface RemoteShard {
  readonly backend: Backend
  readonly informers: Informers
  readonly shared: SharedCache
  readonly otherShards: OtherShards
}

/** One storage for each resource. */
function memoized(make: Backend['storage']): Backend['storage'] {
  const storages = new Map<string, ResourceStorage>()
  return ref => {
    const known = storages.get(resourceId(ref)) ?? make(ref)
    storages.set(resourceId(ref), known)
    return known
  }
}

/** Logs warnings at debug level: the connection already reports once why the shard cannot be used. */
const quiet = (log: Logger): Logger => ({
  debug: (fields, message) => log.debug(fields, message),
  info: (fields, message) => log.info(fields, message),
  warn: (fields, message) => log.debug(fields, message),
  error: (fields, message) => log.error(fields, message),
  child: fields => quiet(log.child(fields)),
  isLevelEnabled: level => log.isLevelEnabled(level),
})

/** Creates the backend. The shard may be unreachable now and later: requests fail until it can be reached. */
export function remoteShard(options: RemoteShardOptions): RemoteShard {
  const { connection, everywhere, cache = connection, log, signal } = options
  const copies = new Copies({ isGood: () => connection.reach.isGood(), log, signal })
  const clients = { copies, coalescer: new ListCoalescer() }
  const storage = memoized(ref => remoteStorage(connection, ref, clients))
  const common = commonApis(storage)
  const informers = createInformers(
    { storage: memoized(ref => informerStorage(connection, ref)) },
    quiet(log),
    signal,
  )
  const directory = createDirectory(informers)
  const connectionOf = (cluster: string): ShardConnection =>
    everywhere === undefined || directory.has(cluster) ? connection : everywhere
  const authorizer = reviewAuthorizer(connectionOf)
  return {
    otherShards: otherShards(directory, everywhere && authorizer),
    backend: {
      authorizer,
      storage,
      // The other APIs of one logical cluster are known to the shard only: such requests are forwarded.
      apis: cluster => (cluster === '*' ? common : undefined),
      resolve: path => directory.resolve(path),
      forward: (ctx, request) => forward(connection, ctx, request),
    },
    informers,
    shared: cacheServer({ connection: cache, log: quiet(log), signal }),
  }
}
