import type { ClusterName } from '../../framework/meta/object.ts'
import { isCopy } from '../../kcp/annotations.ts'
import { arrive, discard } from './destination.ts'
import { logicalClusterAt } from './home.ts'
import { reopen } from './origin.ts'
import { arrivalOf, isIncoming, movesFor, rawCluster } from './rawcluster.ts'
import { peerNamed } from './shards.ts'
import { annotationOf, type MigrationStep } from './step.ts'

type Gone = Pick<MigrationStep, 'deps' | 'key'>

/**
 * Ends a migration that failed, or has no object any more, for one logical cluster: it is opened where all its objects are. That is the
 * destination when the origin has begun to remove them, else the origin. Throws while the origin does not tell.
 */
export async function settle(gone: Gone, cluster: ClusterName): Promise<void> {
  const raw = await rawCluster(gone.deps.content, cluster)
  if (raw !== undefined && isIncoming(raw) && movesFor(raw, annotationOf(gone.key))) {
    const { origin, isComplete } = arrivalOf(raw)
    if (isComplete && (await hasLeft(gone, cluster, origin))) return arrive(gone, cluster)
  }
  await discard(gone, cluster)
  await reopen(gone, cluster)
}

/** Throws also while the origin has closed the logical cluster: it may be about to remove the objects. */
async function hasLeft({ deps, key }: Gone, cluster: ClusterName, origin: string): Promise<boolean> {
  const there = await logicalClusterAt(peerNamed(deps.peers, origin), cluster)
  if (there === undefined || isCopy(there)) return true
  if (movesFor({ object: there, modified: 0 }, annotationOf(key)))
    throw new Error(`shard ${origin} has not ended the migration of logical cluster ${cluster} yet`)
  return false
}
