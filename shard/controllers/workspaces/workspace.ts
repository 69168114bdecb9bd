import { isDeepStrictEqual } from 'node:util'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { chosenClusterAnnotation, shardAnnotation, workspaceFinalizer } from '../../../kcp/annotations.ts'
import {
  conditionIs,
  findCondition,
  isFalse,
  removeCondition,
  setConditions,
} from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { phaseLabel } from '../../../kcp/labels.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { placed, placementOf, urlOn } from '../../tenancy/placement.ts'
import { TypesInvalid } from '../../tenancy/typechain.ts'
import { updateObject, updateStatus, withoutFinalizer } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import {
  controllersFinished,
  waitingForControllers,
  waitingForWorkspaceFinalizers,
} from './controllersfinished.ts'
import { hasOnlyBuiltinInitializers } from './initialization.ts'
import { createLogicalCluster } from './logicalclustercreation.ts'
import { homeOf, target, type WorkspaceStep } from './workspacehome.ts'
import { withRemaining, workspaceStatus } from './workspacestatus.ts'

/** Milliseconds until an unschedulable workspace is tried again: as long as it has existed, within these. */
const [soonest, latest] = [5_000, 300_000]

/** Creates the LogicalCluster of every Workspace and copies its phase (kcp `pkg/reconciler/tenancy/workspace`). */
export function workspaceController(deps: KcpControllerDeps): Controller {
  const workspaces = deps.informers.for(deps.tenancy.workspaces)
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster: parent, name } = parseKey(key)
    const workspace = workspaces.get(parent, '', name)?.object as Workspace | undefined
    if (workspace === undefined || workspace.spec?.mount !== undefined) return undefined
    const step = { deps, parent, name }
    if (workspace.metadata.deletionTimestamp === undefined) return advance(step, workspace)
    await deleteWorkspace(step, workspace)
    return undefined
  }
  const byPhase = workspaces.index(phaseOf)
  const unplaced = (): readonly string[] => [...byPhase('Scheduling'), ...byPhase('Unavailable')].map(keyOf)
  return createController(
    {
      name: 'workspace',
      reconcile,
      sources: [
        { informer: workspaces, keys: ({ item }) => [keyOf(item)] },
        { informer: deps.informers.for(resources.logicalClusters), keys: ownersOf },
        { informer: deps.informers.for(deps.tenancy.shards), keys: unplaced },
        { informer: deps.informers.for(deps.tenancy.workspaceTypes), keys: unplaced },
      ],
    },
    deps.log,
  )
}

const phaseOf = ({ meta }: Item): readonly string[] => [meta.labels[phaseLabel] ?? '']

/** The workspace that a logical cluster belongs to. */
function ownersOf({ item }: ItemEvent): readonly string[] {
  const owner = (item.object as LogicalCluster).spec?.owner
  return owner?.resource === 'workspaces' ? [keyFor(owner.cluster, owner.name)] : []
}

/** One step: every write causes an event that leads to the next step. */
async function advance(step: WorkspaceStep, workspace: Workspace): Promise<number | undefined> {
  const cluster = workspace.spec?.cluster
  if (!cluster || !workspace.metadata.finalizers?.includes(workspaceFinalizer)) return choose(step, workspace)
  const isPlaced = conditionIs(workspace.status?.conditions, 'WorkspaceScheduled', 'True')
  if (!isPlaced && logicalClusterOf(step, cluster) === undefined) return place(step, workspace, cluster)
  await keepURL(step, workspace)
  await keepStatus(step, workspace, cluster)
  return undefined
}

const logicalClusterOf = (
  { deps: { directory } }: WorkspaceStep,
  cluster: ClusterName,
): LogicalCluster | undefined => directory.logicalCluster(cluster)

/** Admission schedules a new Workspace; where it found no shard, the controller tries again. */
async function choose(step: WorkspaceStep, workspace: Workspace): Promise<number | undefined> {
  const { client, directory } = step.deps
  const placement = placementOf(directory, step, workspace)
  if ('problem' in placement) return unschedulable(step, workspace, placement.problem)
  await updateObject<Workspace>(client, ...target(step), current => placed(current, placement))
  return undefined
}

async function unschedulable(step: WorkspaceStep, workspace: Workspace, problem: string): Promise<number> {
  const state = isFalse('WorkspaceScheduled', 'Error', 'Unschedulable', problem)
  await updateStatus<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    status: {
      ...current.status,
      phase: 'Unavailable',
      conditions: setConditions(current.status?.conditions, [state]),
    },
  }))
  const { creationTimestamp = '' } = workspace.metadata
  return Math.min(latest, Math.max(soonest, Date.now() - Date.parse(creationTimestamp)))
}

/** Creates the LogicalCluster; its first event enqueues the Workspace again. */
async function place(
  step: WorkspaceStep,
  workspace: Workspace,
  cluster: ClusterName,
): Promise<number | undefined> {
  const made = await createLogicalCluster(step, workspace, cluster).catch(asProblem)
  if (typeof made === 'string') return unschedulable(step, workspace, made)
  return made
    ? undefined
    : unschedulable(step, workspace, `logical cluster "${cluster}" is another workspace's`)
}

/** Missing or circular types, and those with names that no initializer has, become a condition; other errors are retried. */
function asProblem(error: unknown): string {
  if (error instanceof TypesInvalid) return error.message
  if (error instanceof StatusError && error.reason === 'Invalid') return error.message
  throw error
}

async function keepURL(step: WorkspaceStep, { metadata, spec }: Workspace): Promise<void> {
  const { client, directory } = step.deps
  const name = metadata.annotations?.[shardAnnotation] ?? step.deps.shard.name
  const shard = directory.shards().find(each => each.metadata.name === name)
  const URL = shard && urlOn(directory, shard, step)
  if (URL === undefined || spec?.URL === URL) return
  await updateObject<Workspace>(client, ...target(step), current => ({
    ...current,
    spec: { ...current.spec, URL },
  }))
}

/** While only the server's own initializers are left, the status is not written, because they finish shortly. */
async function keepStatus(step: WorkspaceStep, workspace: Workspace, cluster: ClusterName): Promise<void> {
  const home = logicalClusterOf(step, cluster)
  if (home !== undefined && hasOnlyBuiltinInitializers(home)) return
  const waiting = home && waitingForControllers(step.deps, home)
  if (isDeepStrictEqual(workspaceStatus(workspace, home, waiting), workspace.status)) return
  await updateStatus<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    status: workspaceStatus(current, home, waiting),
  }))
}

/** Deletes the LogicalCluster; removes the finalizer of the Workspace when the LogicalCluster is gone. */
async function deleteWorkspace(step: WorkspaceStep, workspace: Workspace): Promise<void> {
  const { finalizers = [], annotations = {} } = workspace.metadata
  if (finalizers.some(each => each !== workspaceFinalizer)) return reportHolders(step)
  if (finalizers.length === 0) return
  const cluster = workspace.spec?.cluster || annotations[chosenClusterAnnotation] || ''
  const home = homeOf(step.deps, workspace, cluster)
  const object = await home.read()
  if (object === undefined || object.spec?.owner?.uid !== workspace.metadata.uid) await release(step)
  else if (object.metadata.deletionTimestamp !== undefined) await mirror(step, object)
  else await home.remove()
}

/** While the Workspace has other finalizers, its LogicalCluster is not deleted, but the phase is never that of a workspace to use. */
async function reportHolders(step: WorkspaceStep): Promise<void> {
  const { client, directory, shard } = step.deps
  const parent = `${shard.externalURL}/clusters/${directory.path(step.parent)}`
  await updateStatus<Workspace>(client, ...target(step), current => {
    const state = waitingForWorkspaceFinalizers(current, parent)
    const conditions = setConditions(current.status?.conditions, [state])
    const phase = current.status?.terminators?.length ? 'Terminating' : 'Deleting'
    return { ...current, status: { ...current.status, phase, conditions } }
  })
}

const release = (step: WorkspaceStep): Promise<unknown> =>
  updateObject<Workspace>(step.deps.client, ...target(step), current =>
    withoutFinalizer(current, workspaceFinalizer),
  )

const mirrored = ['WorkspaceContentDeleted', controllersFinished]

/** Copies phase and conditions of the terminating LogicalCluster to the Workspace. */
async function mirror(step: WorkspaceStep, home: LogicalCluster): Promise<void> {
  const { phase } = home.status ?? {}
  if (phase !== 'Terminating' && phase !== 'Deleting') return
  await updateStatus<Workspace>(step.deps.client, ...target(step), current => {
    const states = mirrored.flatMap(type => findCondition(home.status?.conditions, type) ?? [])
    const gone = mirrored.filter(type => !states.some(state => state.type === type))
    const known = gone.reduce(removeCondition, current.status?.conditions ?? [])
    const conditions = setConditions(known, states)
    return { ...current, status: { ...withRemaining(current.status ?? {}, home), phase, conditions } }
  })
}
