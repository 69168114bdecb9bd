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
  const asked = peer.get<{ readonly gitVersion?: string }>('/version', AbortSignal.timeout(longest))
  const answer = await asked.catch((error: Error) => error)
  if (answer instanceof Error) return new Error(`shard ${name} does not respond: ${answer.message}`)
  return { isKcp: answer.gitVersion?.includes('+oriel-') !== true }
}
