import type { PeerClient } from '../../framework/contract/peer.ts'
import { rootCluster } from '../../kcp/logicalclusters.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import type { Peers } from '../tenancy/peer.ts'

/** The names of all shards, this one first. */
export function shardNames({ informers, peers, shard, tenancy }: KcpControllerDeps): readonly string[] {
  const shards = informers.for(tenancy.shards).list(rootCluster)
  return [...new Set([shard.name, ...peers.keys(), ...shards.map(({ key: { name } }) => name)])]
}

/** The client of a shard. Throws while there is none. */
export function peerNamed(peers: Peers, name: string): PeerClient {
  const peer = peers.get(name)
  if (peer === undefined) throw new Error(unknownShard(name))
  return peer
}

export const unknownShard = (name: string): string => `shard ${name} is not known or not reachable`
