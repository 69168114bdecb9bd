import type { PeerClient } from '../../framework/contract/peer.ts'
import { unknownShard } from './shards.ts'
import { destinationOf, type MigrationStep } from './step.ts'

/** Milliseconds in which a destination answers. */
const longest = 2_000

/** A destination that responds. */
export interface Reached {
  /** It is a shard of kcp. */
  readonly isKcp: boolean
}

/** Asks the destination before anything is closed. An error says why it cannot take the logical cluster now. */
export async function reachDestination(step: MigrationStep): Promise<Reached | Error> {
  const name = destinationOf(step)
  const peer = step.deps.peers.get(name)
  if (peer === undefined) return new Error(unknownShard(name))
  const isKcp = await isOfKcp(peer).catch((error: Error) => error)
  if (isKcp instanceof Error) return new Error(`shard ${name} does not respond: ${isKcp.message}`)
  return { isKcp }
}

/** Whether a shard is one of kcp. Throws while it does not answer. */
export async function isOfKcp(peer: PeerClient): Promise<boolean> {
  const signal = AbortSignal.timeout(longest)
  const { gitVersion } = await peer.get<{ readonly gitVersion?: string }>('/version', signal)
  return gitVersion?.includes('+oriel-') !== true
}
