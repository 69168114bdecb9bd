import type { Logger } from '../../framework/contract/log.ts'
import { connectShard, type ShardConnection } from '../../remote/connection/connection.ts'
import type { ShardPlace } from '../isolation/messages.ts'
import { openConnections } from '../views/shardconnection.ts'

interface ShardConnections {
  readonly connection: ShardConnection
  readonly everywhere?: ShardConnection
  readonly cache?: ShardConnection
}

/** Connects to `oriel start` by its socket, or to a shard by the flags of `oriel virtual-workspaces`. */
export async function connectionsTo(
  place: ShardPlace,
  log: Logger,
  signal: AbortSignal,
): Promise<ShardConnections> {
  if ('flags' in place) return openConnections({ flags: place.flags, log, signal })
  const { socketPath, token } = place
  return { connection: connectShard({ server: 'http://oriel', socketPath, token }, log) }
}
