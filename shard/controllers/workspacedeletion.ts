import { chosenClusterAnnotation, workspaceFinalizer } from '../metadata.ts'
import { clusterScoped, ifFound, updateObject, updateStatus } from './client.ts'
import { findCondition, setConditions } from './conditions.ts'
import { type LogicalCluster, logicalClusterName, resources, type Workspace } from './objects.ts'
import { target, type WorkspaceStep } from './workspacestep.ts'

/** Deletes the logical cluster; lets the workspace go when that is gone (chapter 20, section 3.10). */
export async function deleteWorkspace(step: WorkspaceStep, workspace: Workspace): Promise<void> {
  const { client, informers } = step.deps
  const { finalizers = [], annotations = {} } = workspace.metadata
  if (finalizers.length !== 1 || finalizers[0] !== workspaceFinalizer) return
  const cluster = workspace.spec?.cluster || annotations[chosenClusterAnnotation] || ''
  const home = informers.for(resources.logicalClusters).get(cluster, '', logicalClusterName)
  const object = home?.object as LogicalCluster | undefined
  if (object === undefined || object.spec?.owner?.uid !== workspace.metadata.uid) {
    await release(step)
    return
  }
  await mirror(step, object)
  if (object.metadata.deletionTimestamp === undefined)
    await ifFound(client.delete(resources.logicalClusters, clusterScoped(cluster, logicalClusterName)))
}

const release = (step: WorkspaceStep): Promise<unknown> =>
  updateObject<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    metadata: {
      ...current.metadata,
      finalizers: (current.metadata.finalizers ?? []).filter(each => each !== workspaceFinalizer),
    },
  }))

/** Observers of the workspace see how far the deletion of the content is. */
const mirror = (step: WorkspaceStep, home: LogicalCluster): Promise<unknown> =>
  updateStatus<Workspace>(step.deps.client, ...target(step), current => {
    const phase = (home.status?.terminators ?? []).length > 0 ? 'Terminating' : 'Deleting'
    const content = findCondition(home.status?.conditions, 'WorkspaceContentDeleted')
    const conditions = setConditions(current.status?.conditions, content === undefined ? [] : [content])
    return { ...current, status: { ...current.status, phase, conditions } }
  })
