import { isDeepStrictEqual } from 'node:util'
import { pacedMap } from '../../../framework/async/awaitable.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { ClusterName, ObjectKey } from '../../../framework/meta/object.ts'
import { isCopy } from '../../../kcp/annotations.ts'
import type { ConditionState } from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { withLocks } from '../../admission/kcp/metadata.ts'
import { isBeingDeleted, replacementOf, type Stored } from '../../bindings/content.ts'
import { holderOf } from '../../bindings/holders.ts'
import { storedResourceOf } from '../../manifests/apply.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import { type Controller, createController } from '../controller.ts'
import { maintainBindings } from '../exports/defaultbindings.ts'
import type { KcpControllerDeps } from '../host.ts'
import { waitingForControllers } from './controllersfinished.ts'
import {
  adminBinding,
  hasOnlyBuiltinInitializers,
  initializationOf,
  missingAdmin,
  storeMissing,
} from './initialization.ts'
import { deleteLogicalCluster } from './logicalclusterdeletion.ts'
import { bindingsIn, readyAfter, type StepResult, withStatus } from './logicalclusterstatus.ts'

/** Milliseconds in which default bindings may still be incomplete before the status reports it. */
const reportDelay = 2_000

/** Moves every LogicalCluster through its phases (kcp `pkg/reconciler/core/logicalcluster`). */
export function logicalClusterController(deps: KcpControllerDeps): Controller {
  /** Logical clusters whose state depends on exports and workspace types of other workspaces. */
  const dependent = new Set<ClusterName>()
  const clusters = deps.informers.for(resources.logicalClusters)
  const reconcile = async (cluster: string): Promise<number | undefined> => {
    const current = deps.directory.logicalCluster(cluster)
    if (current === undefined) dependent.delete(cluster)
    if (current === undefined || isCopy(current)) return undefined
    if (current.metadata.deletionTimestamp !== undefined) return deleteLogicalCluster(deps, cluster, current)
    const found = await advance(deps, cluster, current)
    const depends = found.maintained !== undefined || found.initialization?.bindings?.status === 'False'
    if (depends) dependent.add(cluster)
    else dependent.delete(cluster)
    return found.isStored ? undefined : report(deps, cluster, current, found)
  }
  const around = ({ item: { cluster } }: Stored): readonly string[] => {
    const home = clusters.get(cluster, '', logicalClusterName)
    return home !== undefined && isBeingDeleted(home) ? [cluster] : []
  }
  return createController(
    {
      name: 'logicalcluster',
      reconcile,
      sources: changesOf(deps, dependent),
      terminating: { content: deps.content, keys: around },
    },
    deps.log,
  )
}

const keyOfCluster = ({ item }: ItemEvent): readonly string[] => [item.key.cluster]

function changesOf(
  { content, informers, tenancy, directory }: KcpControllerDeps,
  dependent: ReadonlySet<ClusterName>,
) {
  const { group, resource, identity = '' } = tenancy.workspaces
  /** Enqueues a terminating logical cluster when its last child workspace is gone. */
  const lastChild = ({ type, item: { key } }: ItemEvent): readonly string[] => {
    if (type !== 'DELETED') return []
    const parent = directory.logicalCluster(key.cluster)
    const isWaiting =
      parent?.metadata.deletionTimestamp !== undefined &&
      content.count({ group, resource, segment: identity }, key.cluster) === 0
    return isWaiting ? [key.cluster] : []
  }
  const lostAdmin = ({ type, item: { key } }: ItemEvent): readonly string[] =>
    type === 'DELETED' && key.name === adminBinding ? [key.cluster] : []
  const all = (): readonly string[] => [...dependent]
  /** A new binding has no bound resources yet. */
  const bound = (event: ItemEvent): readonly string[] => (event.type === 'ADDED' ? [] : keyOfCluster(event))
  return [
    { informer: informers.for(resources.logicalClusters), keys: keyOfCluster },
    { informer: informers.for(resources.apiBindings), keys: bound },
    { informer: informers.for(resources.clusterRoleBindings), keys: lostAdmin },
    { informer: informers.for(tenancy.workspaces), keys: lastChild },
    { informer: informers.for(resources.apiExports), keys: all },
    { informer: informers.for(tenancy.workspaceTypes), keys: all },
  ]
}

async function advance(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  current: LogicalCluster,
): Promise<StepResult> {
  const waiting = waitingForControllers(deps, current)
  // All bindings of a logical cluster take a second to decode: later steps, of this controller and of admission, find what they need.
  await pacedMap(deps.informers.for(resources.apiBindings).list(cluster), holderOf)
  if (current.status?.phase === 'Initializing') return initialize(deps, cluster, current, waiting)
  await deps.content.add(missingAdmin(deps, cluster, current))
  return { maintained: await maintainBindings(deps, cluster, current), waiting }
}

const clusterKey = (cluster: ClusterName): ObjectKey => clusterScoped(cluster, logicalClusterName)

/** Creates what is missing. A logical cluster that waits for nothing else becomes Ready in the same commit. */
async function initialize(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  current: LogicalCluster,
  waiting: ConditionState | undefined,
): Promise<StepResult> {
  const initialization = initializationOf(deps, cluster, current)
  const found = { initialization, waiting }
  const ready = readyAfter(deps, cluster, current, found)
  const stored = deps.content.get(storedResourceOf(resources.logicalClusters), clusterKey(cluster))
  const isSame = stored?.item.meta.resourceVersion === current.metadata.resourceVersion
  if (stored === undefined || !isSame || ready === undefined) {
    await storeMissing(deps, initialization)
    return found
  }
  await storeMissing(deps, initialization, [replacementOf(stored, ready)])
  return { ...found, isStored: true }
}

/** Default bindings finish shortly: while only they are incomplete, the status is written after a delay. */
async function report(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  current: LogicalCluster,
  found: StepResult,
): Promise<number | undefined> {
  const age = Date.now() - Date.parse(current.metadata.creationTimestamp ?? '')
  const { reason } = found.initialization?.bindings ?? {}
  if (hasOnlyBuiltinInitializers(current) && reason === 'WaitingOnAPIBindings' && age < reportDelay)
    return reportDelay
  const wanted = (now: LogicalCluster): LogicalCluster => withStatus(deps, cluster, now, found)
  const bindings = bindingsIn(deps, cluster)
  const target = [deps.client, resources.logicalClusters, clusterKey(cluster)] as const
  if (!isDeepStrictEqual(wanted(current).status, current.status))
    await updateStatus<LogicalCluster>(...target, wanted)
  else if (withLocks(current, bindings) !== current)
    await updateObject<LogicalCluster>(...target, now => withLocks(now, bindings))
  return undefined
}
