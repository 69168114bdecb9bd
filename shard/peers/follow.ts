import { setMaxListeners } from 'node:events'
import { aborted } from '../../framework/async/awaitable.ts'
import type { ItemEvent } from '../../framework/contract/item.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { Shard } from '../../kcp/core.ts'
import type { ShardAddresses } from '../bootstrap/root.ts'
import type { Controller } from '../controllers/controller.ts'
import type { ConnectPeer } from '../tenancy/peer.ts'
import { announce, untilReached } from './announce.ts'
import { type CopyDeps, keepCopies } from './copying.ts'
import { Holders } from './holders.ts'

/** The name and address of a shard. */
export interface PeerAddress {
  readonly name: string
  readonly baseURL: string
}

/** Connects this shard with other shards. */
export interface Sharding {
  /** The addresses in this shard's Shard object. */
  readonly own: ShardAddresses
  readonly connect: ConnectPeer
  /** To their views, with other credentials; absent: there are none. */
  readonly connectViews?: ConnectPeer
  /** The shard with `root`; absent on that shard. */
  readonly root?: PeerAddress
}

export interface FollowDeps extends Omit<CopyDeps, 'holders'> {
  readonly sharding: Sharding
  /** The other shards by name; filled here. */
  readonly peers: Map<string, PeerClient>
  /** Follows something else of a shard until the signal aborts. */
  also(peer: { readonly name: string; readonly client: PeerClient }, signal: AbortSignal): Promise<void>
}

interface Followed {
  readonly baseURL: string
  /** Resolves when no work for the shard is running. */
  stop(): Promise<void>
}

/** Follows the Shard objects in `root`, and keeps copies of the objects that other shards need. */
export function peersController(deps: FollowDeps): Controller {
  const followed = new Map<string, Followed>()
  const holders = new Holders(deps.informers, deps.tenancy)
  const forget = async (name: string): Promise<void> => {
    const known = followed.get(name)
    followed.delete(name)
    deps.peers.delete(name)
    await known?.stop()
  }
  const follow = ({ name, baseURL }: PeerAddress): void => {
    if (name === deps.sharding.own.name || followed.get(name)?.baseURL === baseURL) return
    void forget(name)
    const client = deps.sharding.connect(baseURL)
    deps.peers.set(name, client)
    followed.set(name, { baseURL, stop: copying({ ...deps, holders }, { name, client }) })
  }
  const apply = ({ type, item }: ItemEvent): void => {
    // The copy of the root shard's object may have an earlier address, and only the root shard has the current one.
    if (item.key.cluster !== 'root' || item.key.name === deps.sharding.root?.name) return
    const baseURL = ((item.object as Shard).spec?.baseURL ?? '').replace(/\/+$/, '')
    if (type === 'DELETED' || baseURL === '') void forget(item.key.name)
    else if (type !== 'BOOKMARK') follow({ name: item.key.name, baseURL })
  }
  return {
    name: 'peers',
    everywhere: true,
    idle: () => Promise.resolve(),
    async run(signal) {
      if (deps.sharding.root !== undefined) {
        follow(deps.sharding.root)
        void announced(deps, deps.sharding.root, signal)
      }
      const stop = deps.informers.for(deps.tenancy.shards).onEvent(apply)
      await aborted(signal)
      stop()
      await Promise.all([...followed.keys()].map(forget))
    },
  }
}

/** Announces this shard only when it is reachable, because other shards connect at once. */
async function announced(
  { log, sharding }: FollowDeps,
  root: PeerAddress,
  signal: AbortSignal,
): Promise<void> {
  const client = sharding.connect(root.baseURL)
  await untilReached({ log, signal }, () => announce(client, sharding.own, signal)).catch(() => undefined)
  await client.close()
}

function copying(
  deps: FollowDeps & CopyDeps,
  peer: { name: string; client: PeerClient },
): () => Promise<void> {
  const ending = new AbortController()
  // Every informer adds a listener.
  setMaxListeners(0, ending.signal)
  const copies = keepCopies({ ...deps, rootShard: deps.sharding.root?.name }, peer, ending.signal)
  const done = Promise.all([copies, deps.also(peer, ending.signal)])
  return async () => {
    ending.abort()
    await done
    await peer.client.close()
  }
}
