import { chosenClusterAnnotation, workspaceFinalizer } from '../../../kcp/annotations.ts'
import { findCondition, removeCondition, setConditions } from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { updateObject, updateStatus } from '../client.ts'
import { awaitedOnWorkspace, finished } from './waiting.ts'
import { homeOf } from './workspacehome.ts'
import { withRemaining } from './workspacestatus.ts'
import { target, type WorkspaceStep } from './workspacestep.ts'

/** Deletes the logical cluster; lets the workspace go when that is gone (chapter 20, section 3.10). */
export async function deleteWorkspace(step: WorkspaceStep, workspace: Workspace): Promise<void> {
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

/** Others come first: as long as they hold the workspace itself, nothing happens to what is in it. */
async function reportHolders(step: WorkspaceStep): Promise<void> {
  const { client, directory, shard } = step.deps
  const parent = `${shard.externalURL}/clusters/${directory.path(step.parent)}`
  await updateStatus<Workspace>(client, ...target(step), current => {
    const state = awaitedOnWorkspace(current, parent)
    const conditions = setConditions(current.status?.conditions, [state])
    return { ...current, status: { ...current.status, conditions } }
  })
}

const release = (step: WorkspaceStep): Promise<unknown> =>
  updateObject<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    metadata: {
      ...current.metadata,
      finalizers: (current.metadata.finalizers ?? []).filter(each => each !== workspaceFinalizer),
    },
  }))

const mirrored = ['WorkspaceContentDeleted', finished]

/** Observers of the workspace see how far its deletion is, as soon as there is something to see. */
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
