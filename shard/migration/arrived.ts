import { dumpStates, isCopy } from '../../kcp/annotations.ts'
import { logicalClusterAt } from './home.ts'
import {
  arrivalOf,
  closedAt,
  countOf,
  dumpStateOf,
  isLeaving,
  movesFor,
  type RawCluster,
  rangeOf,
  rawCluster,
} from './rawcluster.ts'
import { isOfKcp } from './reach.ts'
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

/**
 * Whether this shard, the destination, has all objects, and the origin has not closed the logical cluster anew since: it may have begun to
 * remove its own, whatever the migration says. A shard of kcp does not close it anew. Throws while the origin does not answer.
 */
export async function isCopiedHere(step: MigrationStep): Promise<boolean> {
  const { deps, key } = step
  const raw = await rawCluster(deps.content, clusterOf(step))
  if (raw === undefined || !movesFor(raw, annotationOf(key))) return false
  const { origin, last, isComplete } = arrivalOf(raw)
  if (!isComplete) return false
  const peer = peerNamed(deps.peers, origin)
  if (await isOfKcp(peer)) return false
  const there = await logicalClusterAt(peer, clusterOf(step))
  if (there === undefined || isCopy(there)) return true
  return isLeaving({ object: there, modified: 0 }) || Number(there.metadata.resourceVersion) <= last
}
