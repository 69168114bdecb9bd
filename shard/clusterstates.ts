import type { ClusterStates } from '../authz/content.ts'
import type { ItemEvent } from '../framework/item.ts'
import type { ClusterName } from '../framework/object.ts'
import { customSegment } from './apis/served.ts'
import type { WatchCache } from './cache/watchcache.ts'
import { type LogicalCluster, logicalClusterName } from './controllers/objects.ts'

/** The phase of every logical cluster, kept beside the objects because every request asks for one. */
export function clusterStatesOf(cache: WatchCache): ClusterStates {
  const phases = new Map<ClusterName, string>()
  const objects = cache.resource('core.kcp.io', 'logicalclusters', customSegment)
  objects.subscribe(event => apply(phases, event), { replay: true })
  return { phase: cluster => phases.get(cluster) }
}

function apply(phases: Map<ClusterName, string>, { type, item }: ItemEvent): void {
  if (type === 'BOOKMARK' || item.key.name !== logicalClusterName) return
  if (type === 'DELETED') phases.delete(item.key.cluster)
  else phases.set(item.key.cluster, phaseOf(item.object as LogicalCluster))
}

const phaseOf = ({ status }: LogicalCluster): string => status?.phase ?? ''
