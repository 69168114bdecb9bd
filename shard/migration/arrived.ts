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

/**
 * Whether the destination itself has all objects of a logical cluster as they are since it was closed here, whatever the migration says.
 * A shard of kcp does not tell: it has got the last entries. Throws while the destination does not answer.
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
  return last >= closedAt(raw) && count === (await countOf(deps.content.values, rangeOf(cluster)))
}
