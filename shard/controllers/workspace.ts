import type { ItemEvent } from '../../framework/item.ts'
import type { ClusterName } from '../../framework/object.ts'
import {
  chosenClusterAnnotation,
  phaseLabel,
  shardAnnotation,
  shardHashAnnotation,
  workspaceFinalizer,
} from '../metadata.ts'
import { shardHash, workspaceClusterName } from '../names.ts'
import { updateObject, updateStatus } from './client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from './controller.ts'
import type { KcpControllerDeps } from './deps.ts'
import { createLogicalCluster, reducedOwner } from './logicalclustercreation.ts'
import { type LogicalCluster, logicalClusterName, resources, type Workspace } from './objects.ts'
import { deleteWorkspace } from './workspacedeletion.ts'
import { workspaceStatus } from './workspacestatus.ts'
import { target, type WorkspaceStep } from './workspacestep.ts'

/** Makes a logical cluster for every workspace and follows its phase (chapter 20, sections 3.3 to 3.7). */
export function workspaceController(deps: KcpControllerDeps): Controller {
  const workspaces = deps.informers.for(deps.tenancy.workspaces)
  const clusters = deps.informers.for(resources.logicalClusters)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster: parent, name } = parseKey(key)
    const workspace = workspaces.get(parent, '', name)?.object as Workspace | undefined
    if (workspace === undefined || workspace.spec?.mount !== undefined) return
    const step = { deps, parent, name }
    if (workspace.metadata.deletionTimestamp !== undefined) await deleteWorkspace(step, workspace)
    else await advance(step, workspace)
  }
  return createController(
    {
      name: 'workspace',
      reconcile,
      sources: [
        { informer: workspaces, keys: ({ item }) => [keyOf(item)] },
        { informer: clusters, keys: ownersOf },
      ],
    },
    deps.log,
  )
}

/** The workspace that a logical cluster belongs to. */
function ownersOf({ item }: ItemEvent): readonly string[] {
  const owner = (item.object as LogicalCluster).spec?.owner
  return owner?.resource === 'workspaces' ? [keyFor(owner.cluster, owner.name)] : []
}

/** One pass; every write is an event that leads to the next. */
async function advance(step: WorkspaceStep, workspace: Workspace): Promise<void> {
  const chosen = workspace.spec?.cluster || workspace.metadata.annotations?.[chosenClusterAnnotation]
  if (!chosen || !workspace.metadata.finalizers?.includes(workspaceFinalizer)) return choose(step)
  if (!workspace.spec?.cluster) return place(step, workspace, chosen)
  await keepURL(step, workspace)
  const home = step.deps.informers.for(resources.logicalClusters).get(chosen, '', logicalClusterName)
  const object = home?.object as LogicalCluster | undefined
  if (object !== undefined && (object.status?.phase ?? 'Scheduling') === 'Scheduling') return
  await updateStatus<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    status: workspaceStatus(current, object),
  }))
  await updateObject<Workspace>(step.deps.client, ...target(step), current => {
    const phase = current.status?.phase ?? 'Scheduling'
    return reducedOwner(withLabel(current, phase), phase)
  })
}

const withLabel = (workspace: Workspace, phase: string): Workspace => ({
  ...workspace,
  metadata: { ...workspace.metadata, labels: { ...workspace.metadata.labels, [phaseLabel]: phase } },
})

/** First write: the cluster's name is kept before the cluster exists, so that a crash between the two does no harm. */
async function choose(step: WorkspaceStep): Promise<void> {
  const { shard, client } = step.deps
  const name = workspaceClusterName()
  await updateObject<Workspace>(client, ...target(step), current => {
    const { annotations = {}, finalizers = [] } = current.metadata
    const chosen = {
      [shardAnnotation]: shard.name,
      [shardHashAnnotation]: shardHash(shard.name),
      [chosenClusterAnnotation]: annotations[chosenClusterAnnotation] ?? name,
    }
    const metadata = {
      ...current.metadata,
      annotations: { ...annotations, ...chosen },
      finalizers: [...finalizers.filter(each => each !== workspaceFinalizer), workspaceFinalizer],
    }
    return withLabel({ ...current, metadata }, current.status?.phase ?? 'Scheduling')
  })
}

/** Second: the logical cluster, then where it is. A name that somebody else has is dropped, and another one is drawn. */
async function place(step: WorkspaceStep, workspace: Workspace, cluster: ClusterName): Promise<void> {
  const { client } = step.deps
  const isOurs = await createLogicalCluster(step, workspace, cluster)
  await updateObject<Workspace>(client, ...target(step), current => {
    if (isOurs)
      return withLabel({ ...current, spec: { ...current.spec, cluster, URL: urlOf(step) } }, 'Initializing')
    const { [chosenClusterAnnotation]: _, ...annotations } = current.metadata.annotations ?? {}
    return { ...current, metadata: { ...current.metadata, annotations } }
  })
}

const urlOf = ({ deps, parent, name }: WorkspaceStep): string =>
  `${deps.shard.externalURL}/clusters/${deps.directory.path(parent)}:${name}`

async function keepURL(step: WorkspaceStep, { spec }: Workspace): Promise<void> {
  const URL = urlOf(step)
  if (spec?.URL === URL) return
  await updateObject<Workspace>(step.deps.client, ...target(step), current => ({
    ...current,
    spec: { ...current.spec, URL },
  }))
}
