import { pacedMap } from '../../../framework/async/awaitable.ts'
import { type ClusterName, groupResource } from '../../../framework/meta/object.ts'

import { logicalClusterFinalizer, workspaceFinalizer } from '../../../kcp/annotations.ts'
import { coreGroup } from '../../../kcp/apigroups.ts'
import { type ConditionState, isFalse, setConditions } from '../../../kcp/conditions.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { removalBatch, removeAll, type Stored } from '../../bindings/content.ts'
import { customSegment } from '../../cache/segments.ts'

import { clusterScoped, ifFound, updateObject, updateStatus, withoutFinalizer } from '../client.ts'
import type { KcpControllerDeps } from '../host.ts'
import { foreignFinalizers, isNeeded, refOf } from '../kubernetes/finalizers.ts'
import {
  deleteItems,
  type Remaining,
  recheck,
  remainingFinalizers,
  remainingInstances,
} from '../remaining.ts'
import { WorkerTurn } from '../workerturn.ts'
import { waitingForChildren, waitingForControllers, waitingForFinalizers } from './controllersfinished.ts'

/**
 * Deletes the content of a logical cluster: first the terminators finish, then the child workspaces are deleted,
 * then the rest. Unlike in kcp, content stays until the terminators have finished.
 */
export async function deleteLogicalCluster(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<number | undefined> {
  if (!object.metadata.finalizers?.includes(logicalClusterFinalizer)) return undefined
  const terminators = waitingForControllers(deps, object)
  if (terminators !== undefined) {
    await reportDeletion(deps, cluster, 'Terminating', [terminators])
    return undefined
  }
  const { children, held, others } = await contentOf(deps, cluster)
  const holding = children.length > 0 ? children : held
  if (holding.length === 0) return void (await removeLogicalCluster(deps, cluster, others))
  if (children.length === 0)
    await removeAll(
      deps.content,
      others.filter(stored => !isNeeded(stored)),
    )
  const turn = new WorkerTurn()
  await deleteObjects(deps, holding, turn)
  if (turn.isOver) return 0
  const whom =
    children.length > 0 ? waitingForChildren(object, children) : waitingForFinalizers(object, holding)
  await reportDeletion(deps, cluster, 'Deleting', [await contentCondition(holding), whom])
  return recheck
}

/** The objects of a logical cluster, without the LogicalCluster. */
interface Content {
  /** Workspaces. */
  readonly children: Stored[]
  /** Objects for which other controllers have something to do. */
  readonly held: Stored[]
  readonly others: Stored[]
}

async function contentOf(deps: KcpControllerDeps, cluster: ClusterName): Promise<Content> {
  const content: Content = { children: [], held: [], others: [] }
  const placeOf = (stored: Stored): keyof Content =>
    isChild(deps, stored) ? 'children' : isHeld(deps, stored) ? 'held' : 'others'
  await pacedMap(deps.content.of(cluster), stored => {
    if (!isLogicalCluster(stored)) content[placeOf(stored)].push(stored)
  })
  return content
}

const isLogicalCluster = ({ resource: { group, resource } }: Stored): boolean =>
  group === coreGroup && resource === 'logicalclusters'

const isChild = ({ tenancy }: KcpControllerDeps, { resource }: Stored): boolean =>
  resource.resource === 'workspaces' && resource.segment === tenancy.workspaces.identity

const isHeld = ({ apis }: KcpControllerDeps, stored: Stored): boolean =>
  foreignFinalizers(stored).length > 0 && refOf(apis, stored) !== undefined

async function deleteObjects(
  { apis, client }: KcpControllerDeps,
  holding: readonly Stored[],
  turn: WorkerTurn,
): Promise<void> {
  const remove = async (stored: Stored): Promise<void> => {
    const ref = refOf(apis, stored)
    const { key, meta } = stored.item
    await (ref && ifFound(client.delete(ref, key, { propagation: 'Background', uid: meta.uid })))
  }
  await deleteItems(holding, remove, turn)
}

/** Removes all remaining objects, and at last the LogicalCluster and its Workspace in one commit. */
async function removeLogicalCluster(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  content: readonly Stored[],
): Promise<void> {
  const itself = storedAt(deps, cluster)
  if (itself === undefined) return
  const { metadata, spec } = itself.item.object as LogicalCluster
  const ends = metadata.finalizers?.length === 1 ? [itself, ...workspaceOf(deps, spec?.owner)] : []
  const last = content.length - (content.length % removalBatch)
  await removeAll(deps.content, content.slice(0, last))
  await deps.content.remove([...content.slice(last), ...ends])
  if (ends.length === 0) await dropFinalizer(deps, cluster)
}

const storedAt = ({ content }: KcpControllerDeps, cluster: ClusterName): Stored | undefined =>
  content.get(
    { group: coreGroup, resource: 'logicalclusters', segment: customSegment },
    clusterScoped(cluster, logicalClusterName),
  )

/** The Workspace, when its only finalizer is that of its LogicalCluster. */
function workspaceOf(
  { content, tenancy }: KcpControllerDeps,
  owner: NonNullable<LogicalCluster['spec']>['owner'],
): readonly Stored[] {
  if (owner === undefined) return []
  const { group, resource, identity = '' } = tenancy.workspaces
  const found = content.get({ group, resource, segment: identity }, clusterScoped(owner.cluster, owner.name))
  const { uid, deletionTimestamp, finalizers } = (found?.item.object as Workspace | undefined)?.metadata ?? {}
  const only = finalizers?.length === 1 && finalizers[0] === workspaceFinalizer
  return found && uid === owner.uid && deletionTimestamp !== undefined && only ? [found] : []
}

const dropFinalizer = ({ client }: KcpControllerDeps, cluster: ClusterName): Promise<unknown> =>
  updateObject<LogicalCluster>(
    client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    current => withoutFinalizer(current, logicalClusterFinalizer),
  )

/** The condition `WorkspaceContentDeleted` with kcp's message. */
async function contentCondition(left: readonly Stored[]): Promise<ConditionState> {
  const remaining = await remainingOf(left)
  const parts = [remainingInstances(remaining), remainingFinalizers(remaining, 'logical cluster')]
  const text = parts.filter(part => part !== '').join('; ')
  return isFalse('WorkspaceContentDeleted', 'Info', 'SomeResourcesRemain', text)
}

async function remainingOf(left: readonly Stored[]): Promise<Remaining> {
  const instances = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string): unknown =>
    counts.set(key, (counts.get(key) ?? 0) + 1)
  await pacedMap(left, stored => {
    count(instances, groupResource(stored.resource.group, stored.resource.resource))
    for (const finalizer of foreignFinalizers(stored)) count(finalizers, finalizer)
  })
  return { instances, finalizers }
}

/** Writes the phase and the conditions of a deletion. */
const reportDeletion = (
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
