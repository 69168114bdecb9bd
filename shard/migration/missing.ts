import { isClusterName } from '../../framework/request/path.ts'
import { findCondition, isFalse } from '../../kcp/conditions.ts'
import { hasCluster } from './home.ts'
import { rawCluster } from './rawcluster.ts'
import { peerNamed, shardNames } from './shards.ts'
import { clusterOf, type MigrationStep, report } from './step.ts'

/**
 * While no shard is the origin: the shard of the migration reports that none has the logical cluster, about which kcp says
 * nothing. The migration begins when a shard has it. Throws while a shard cannot be asked.
 */
export async function reportMissing(step: MigrationStep): Promise<void> {
  const { originShard = '', conditions } = step.migration.status ?? {}
  if (!step.isHere || originShard !== '' || (await isThere(step))) return
  const message = `no shard has the logical cluster ${JSON.stringify(clusterOf(step))}`
  if (findCondition(conditions, 'OriginReady')?.message === message) return
  await report(step, { conditions: [isFalse('OriginReady', 'Error', 'LogicalClusterNotFound', message)] })
}

async function isThere(step: MigrationStep): Promise<boolean> {
  const { deps } = step
  const cluster = clusterOf(step)
  if (!isClusterName(cluster)) return false
  if ((await rawCluster(deps.content, cluster)) !== undefined) return true
  for (const name of shardNames(deps))
    if (name !== deps.shard.name && (await hasCluster(peerNamed(deps.peers, name), cluster))) return true
  return false
}
