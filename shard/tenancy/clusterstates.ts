import type { ClusterStates } from '../../authz/chain/gates.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { ItemEvent } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { requiredGroupsAnnotation } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'

interface State {
  readonly phase: string
  readonly requiredGroups: string | undefined
}

/**
 * Phase and required groups of each logical cluster, which every request needs; `changed` is called at each change.
 */
export function clusterStatesOf(
  informers: Informers,
  changed: (cluster: ClusterName) => void,
): ClusterStates {
  const states = new Map<ClusterName, State>()
  informers.for(resources.logicalClusters).onEvent(event => {
    apply(states, event)
    changed(event.item.key.cluster)
  })
  return {
    phase: cluster => states.get(cluster)?.phase,
    requiredGroups: cluster => states.get(cluster)?.requiredGroups,
  }
}

function apply(states: Map<ClusterName, State>, { type, item }: ItemEvent): void {
  if (type === 'BOOKMARK' || item.key.name !== logicalClusterName) return
  if (type === 'DELETED') states.delete(item.key.cluster)
  else
    states.set(item.key.cluster, {
      phase: phaseOf(item.object as LogicalCluster),
      requiredGroups: item.meta.annotations[requiredGroupsAnnotation],
    })
}

const phaseOf = ({ status }: LogicalCluster): string => status?.phase ?? ''
