import type { PeerClient } from '../../framework/contract/peer.ts'

/** Creates the client of the shard at a base URL. */
export type ConnectPeer = (baseURL: string) => PeerClient

/** The other shards that are known now, by name. */
export type Peers = ReadonlyMap<string, PeerClient>
