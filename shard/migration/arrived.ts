import { dumpStates } from '../../kcp/annotations.ts'
import { logicalClusterAt } from './home.ts'
import {
  arrivalOf,
  closedAt,
  countOf,
  dumpStateOf,
  movesFor,
  type RawCluster,
  rangeOf,
} from './rawcluster.ts'
import { peerNamed } from './shards.ts'
import { annotationOf, clusterOf, destinationOf, type MigrationStep } from './step.ts'

/** The destination has all objects, and is of a version that does not count them. */
export class OutdatedDestination extends Error {}

/**
 * Whether the destination itself has all objects of a logical cluster as they are since it was closed here, whatever the migration says.
 * A shard of kcp does not tell: it has got the last entries. Throws while the destination does not answer, or does not count.
 */
export async function hasArrived(step: MigrationStep, raw: RawCluster): Promise<boolean> {
  const dump = dumpStateOf(raw)
  if (dump !== undefined) return dump === dumpStates.sent
  const { deps, key } = step
  const cluster = clusterOf(step)
  const object = await logicalClusterAt(peerNamed(deps.peers, destinationOf(step)), cluster)
  if (object === undefined) return false
  const there = { object, modified: 0 }
  const { origin, last, isComplete, count } = arrivalOf(there)
  if (!movesFor(there, annotationOf(key)) || !isComplete || origin !== deps.shard.name) return false
  if (last < closedAt(raw)) return false
  if (Number.isNaN(count))
    throw new OutdatedDestination(
      `shard ${destinationOf(step)} does not say how many objects it has copied: its version is too old`,
    )
  return count === (await countOf(deps.content.values, rangeOf(cluster)))
}
