import { type ClusterName, groupResource } from '../../../framework/meta/object.ts'
import { type ConditionState, isFalse, setConditions } from '../../../kcp/conditions.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Stored } from '../../bindings/content.ts'
import { clusterScoped, updateStatus } from '../client.ts'
import type { KcpControllerDeps } from '../deps.ts'
import { foreignFinalizers } from '../kubernetes/held.ts'
import { type Remaining, remainingFinalizers, remainingInstances } from '../remaining.ts'

/** What is left of a cluster, in kcp's words. */
export function contentCondition(left: readonly Stored[]): ConditionState {
  const remaining = remainingOf(left)
  const parts = [remainingInstances(remaining), remainingFinalizers(remaining, 'logical cluster')]
  const text = parts.filter(part => part !== '').join('; ')
  return isFalse('WorkspaceContentDeleted', 'Info', 'SomeResourcesRemain', text)
}

function remainingOf(left: readonly Stored[]): Remaining {
  const instances = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string): unknown =>
    counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const stored of left) {
    count(instances, groupResource(stored.resource.group, stored.resource.resource))
    for (const finalizer of foreignFinalizers(stored)) count(finalizers, finalizer)
  }
  return { instances, finalizers }
}

/** LogicalClusterPhase and conditions tell how far the deletion is. */
export const reportDeletion = (
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  phase: LogicalClusterPhase,
  states: readonly ConditionState[],
): Promise<unknown> =>
  updateStatus<LogicalCluster>(
    client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    ({ status, ...rest }) => ({
      ...rest,
      status: { ...status, phase, conditions: setConditions(status?.conditions, states) },
    }),
  )
