import type { ClusterStates } from '../authz/content.ts'
import type { Informers } from '../framework/informer.ts'
import type { ItemEvent } from '../framework/item.ts'
import type { ClusterName } from '../framework/object.ts'
import { type LogicalCluster, logicalClusterName, resources } from './controllers/objects.ts'

/** The phase of every logical cluster, kept beside the objects because every request asks for one. */
export function clusterStatesOf(informers: Informers): ClusterStates {
  const phases = new Map<ClusterName, string>()
  informers.for(resources.logicalClusters).onEvent(event => apply(phases, event))
  return { phase: cluster => phases.get(cluster) }
}

function apply(phases: Map<ClusterName, string>, { type, item }: ItemEvent): void {
  if (type === 'BOOKMARK' || item.key.name !== logicalClusterName) return
  if (type === 'DELETED') phases.delete(item.key.cluster)
  else phases.set(item.key.cluster, phaseOf(item.object as LogicalCluster))
}

const phaseOf = ({ status }: LogicalCluster): string => status?.phase ?? ''
