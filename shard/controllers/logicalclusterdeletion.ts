import type { ResourceRef } from '../../framework/backend.ts'
import { type ClusterName, groupResource } from '../../framework/object.ts'
import { logicalClusterFinalizer } from '../metadata.ts'
import { clusterScoped, updateObject, updateStatus } from './client.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from './conditions.ts'
import { deleteContent, type Remaining, remainingFinalizers, remainingInstances } from './content.ts'
import type { KcpControllerDeps } from './deps.ts'
import { resourceName } from './namingconflicts.ts'
import { type APIBinding, type LogicalCluster, logicalClusterName, resources } from './objects.ts'

const recheck = 1_000

/** Kept to the end: the cluster itself, and the rights of those who still have to clean up. */
const lasting: ReadonlySet<string> = new Set([
  'logicalclusters.core.kcp.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
])
const bindings = 'apibindings.apis.kcp.io'

/** Empties a logical cluster and lets it go; bindings take what they bound with them (chapter 20, section 3.10). */
export async function deleteLogicalCluster(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<number | undefined> {
  if (!object.metadata.finalizers?.includes(logicalClusterFinalizer)) return undefined
  await report(deps, cluster)
  const remaining = await empty(deps, cluster)
  await report(deps, cluster, contentCondition(remaining))
  if (remaining.instances.size > 0) return recheck
  await deleteContent(deps.client, cluster, [resources.clusterRoles, resources.clusterRoleBindings])
  await updateObject<LogicalCluster>(
    deps.client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    current => ({
      ...current,
      metadata: {
        ...current.metadata,
        finalizers: (current.metadata.finalizers ?? []).filter(each => each !== logicalClusterFinalizer),
      },
    }),
  )
  return undefined
}

/** First everything that is the cluster's own, then the bindings. */
async function empty(deps: KcpControllerDeps, cluster: ClusterName): Promise<Remaining> {
  const own = await deleteContent(deps.client, cluster, ownResources(deps, cluster))
  if (own.instances.size > 0) return own
  return deleteContent(deps.client, cluster, [resources.apiBindings])
}

/** One version of every resource that can be deleted and is neither bound nor needed to the end. */
function ownResources({ apis, informers }: KcpControllerDeps, cluster: ClusterName): readonly ResourceRef[] {
  const bound = informers
    .for(resources.apiBindings)
    .list(cluster)
    .flatMap(item => (item.object as APIBinding).status?.boundResources ?? [])
    .map(resourceName)
  const kept = new Set([...lasting, ...bound, bindings, 'events.events.k8s.io'])
  const refs = new Map<string, ResourceRef>()
  for (const { group, version, names, verbs } of apis(cluster)?.resources ?? []) {
    const name = groupResource(group, names.plural)
    if (kept.has(name) || !verbs.includes('delete') || !verbs.includes('list') || refs.has(name)) continue
    refs.set(name, { group, version, resource: names.plural })
  }
  return [...refs.values()]
}

function contentCondition(remaining: Remaining): ConditionState {
  const parts = [remainingInstances(remaining), remainingFinalizers(remaining, 'logical cluster')]
  const text = parts.filter(part => part !== '').join('; ')
  return text === ''
    ? isTrue('WorkspaceContentDeleted')
    : isFalse('WorkspaceContentDeleted', 'Info', 'SomeResourcesRemain', text)
}

const report = (
  { client }: KcpControllerDeps,
  cluster: ClusterName,
  state?: ConditionState,
): Promise<unknown> =>
  updateStatus<LogicalCluster>(
    client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    current => {
      const terminating = (current.status?.terminators ?? []).length > 0
      const phase = terminating ? 'Terminating' : 'Deleting'
      const conditions = setConditions(current.status?.conditions, state === undefined ? [] : [state])
      return { ...current, status: { ...current.status, phase, conditions } }
    },
  )
