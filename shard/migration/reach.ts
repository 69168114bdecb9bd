import { unknownShard } from './shards.ts'
import { destinationOf, type MigrationStep } from './step.ts'

/** Milliseconds in which a destination answers. */
const longest = 2_000

/** Why the destination of a migration cannot take a logical cluster. */
export interface Unfit {
  readonly message: string
  /** It will not become a destination by itself. */
  readonly isFinal: boolean
}

/** Asks the destination before anything is closed; undefined when it can take the logical cluster. */
export async function unfitDestination(step: MigrationStep): Promise<Unfit | undefined> {
  const name = destinationOf(step)
  const peer = step.deps.peers.get(name)
  if (peer === undefined) return { message: unknownShard(name), isFinal: false }
  const asked = peer.get<{ readonly gitVersion?: string }>('/version', AbortSignal.timeout(longest))
  const answer = await asked.catch((error: Error) => error)
  if (answer instanceof Error)
    return { message: `shard ${name} does not respond: ${answer.message}`, isFinal: false }
  if (answer.gitVersion?.includes('+oriel-') === true) return undefined
  return {
    message: `shard ${name} is not a shard of Oriel, whose entries have another format`,
    isFinal: true,
  }
}
