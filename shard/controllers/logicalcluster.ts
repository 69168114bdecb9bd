import { isDeepStrictEqual } from 'node:util'
import type { ClusterName } from '../../framework/object.ts'
import { initializerLabel, terminatorLabel } from '../../openapi/labels.ts'
import { readOwner } from '../admission/kcp/owner.ts'
import { userBinding } from '../bootstrap/rbac.ts'
import { inactiveAnnotation, ownerAnnotation, phaseLabel, resourceBindingsAnnotation } from '../metadata.ts'
import { clusterScoped, createIfMissing, updateObject, updateStatus } from './client.ts'
import { isFalse, isTrue, setConditions } from './conditions.ts'
import { type Controller, createController } from './controller.ts'
import type { KcpControllerDeps } from './deps.ts'
import { createInitializers, type Initialization } from './initialization.ts'
import { reducedOwner } from './logicalclustercreation.ts'
import { deleteLogicalCluster } from './logicalclusterdeletion.ts'
import { resourceName } from './namingconflicts.ts'
import { type APIBinding, type LogicalCluster, logicalClusterName, resources } from './objects.ts'

const adminBinding = 'workspace-admin'

/** Takes every logical cluster through its phases (chapter 20, sections 3.6 and 3.8). */
export function logicalClusterController(deps: KcpControllerDeps): Controller {
  const { informers, directory } = deps
  const bindings = informers.for(resources.apiBindings)
  const admins = informers.for(resources.clusterRoleBindings)
  const initialize = createInitializers(deps)
  const reconcile = async (cluster: string): Promise<number | undefined> => {
    const current = directory.logicalCluster(cluster)
    if (current === undefined) return undefined
    if (current.metadata.deletionTimestamp !== undefined) return deleteLogicalCluster(deps, cluster, current)
    await ensureAdmin(deps, cluster, current)
    const done = isStarting(current) ? await initialize(cluster, current) : undefined
    await writeStatus(deps, cluster, done)
    await writeMetadata(deps, cluster)
    return undefined
  }
  return createController(
    {
      name: 'logicalcluster',
      reconcile,
      sources: [
        { informer: informers.for(resources.logicalClusters), keys: ({ item }) => [item.key.cluster] },
        { informer: bindings, keys: ({ item }) => [item.key.cluster] },
        {
          informer: admins,
          keys: ({ type, item: { key } }) =>
            type === 'DELETED' && key.name === adminBinding ? [key.cluster] : [],
        },
      ],
    },
    deps.log,
  )
}

const isStarting = ({ status }: LogicalCluster): boolean =>
  ['Scheduling', 'Initializing'].includes(status?.phase ?? 'Scheduling')

/** Whoever made the workspace administrates it; made again when somebody deletes it. */
async function ensureAdmin(
  { client, informers }: KcpControllerDeps,
  cluster: ClusterName,
  { spec, metadata }: LogicalCluster,
): Promise<void> {
  const owner = spec?.createdBy?.username ?? readOwner(metadata.annotations?.[ownerAnnotation])?.username
  const known = informers.for(resources.clusterRoleBindings).get(cluster, '', adminBinding)
  if (owner === undefined || known !== undefined) return
  const object = userBinding(adminBinding, 'cluster-admin', owner)
  await createIfMissing(client, resources.clusterRoleBindings, cluster, object)
}

const writeStatus = (
  { client, shard }: KcpControllerDeps,
  cluster: ClusterName,
  done: Initialization | undefined,
): Promise<unknown> =>
  updateStatus<LogicalCluster>(
    client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    current => ({
      ...current,
      status: {
        ...nextStatus(current, done),
        URL: `${shard.externalURL}/clusters/${cluster}`,
      },
    }),
  )

type Status = NonNullable<LogicalCluster['status']>

/** The next phase. Going to Initializing, admission fills in what has to finish. */
function nextStatus({ status = {}, metadata }: LogicalCluster, done: Initialization | undefined): Status {
  const { phase = 'Scheduling' } = status
  const inactive = metadata.annotations?.[inactiveAnnotation] === 'true'
  if (phase === 'Scheduling') return { ...status, phase: 'Initializing' }
  if (phase === 'Ready' && inactive) return { ...status, phase: 'Inactive' }
  if (phase === 'Inactive' && !inactive) return { ...status, phase: 'Ready' }
  return phase === 'Initializing' ? initializing(status, done) : status
}

function initializing(status: Status, done: Initialization | undefined): Status {
  const left = (status.initializers ?? []).filter(each => done?.finished.includes(each) !== true)
  const waiting = `Initializers still exist: [${left.join(' ')}]`
  const state =
    left.length === 0
      ? isTrue('WorkspaceInitialized')
      : isFalse('WorkspaceInitialized', 'Info', 'InitializerExists', waiting)
  return {
    ...status,
    phase: left.length === 0 ? 'Ready' : 'Initializing',
    initializers: left,
    conditions: setConditions(status.conditions, [state, ...(done?.conditions ?? [])]),
  }
}

/** Labels that follow the status, and who holds which resource. */
const writeMetadata = ({ client, informers }: KcpControllerDeps, cluster: ClusterName): Promise<unknown> =>
  updateObject<LogicalCluster>(
    client,
    resources.logicalClusters,
    clusterScoped(cluster, logicalClusterName),
    current => {
      const held = informers.for(resources.apiBindings).list(cluster)
      const phase = current.status?.phase ?? 'Scheduling'
      const labels = labelsOf(current, phase)
      const next = withLocks(
        current,
        held.map(item => item.object as APIBinding),
      )
      const labelled = isDeepStrictEqual(labels, current.metadata.labels)
        ? next
        : { ...next, metadata: { ...next.metadata, labels } }
      return reducedOwner(labelled, phase)
    },
  )

function labelsOf({ metadata, status }: LogicalCluster, phase: string): Readonly<Record<string, string>> {
  const own = Object.entries(metadata.labels ?? {}).filter(
    ([key]) => !/^(initializer|terminator)\./.test(key),
  )
  const remaining = [
    ...(status?.initializers ?? []).map(initializerLabel),
    ...(status?.terminators ?? []).map(terminatorLabel),
  ].map(({ key, value }) => [key, value])
  return { ...Object.fromEntries(own), ...Object.fromEntries(remaining), [phaseLabel]: phase }
}

/** The annotation that tells who holds which resource (chapter 20, section 5.6): a picture of the bindings, drawn
 * when the first ones are there. */
function withLocks(object: LogicalCluster, bindings: readonly APIBinding[]): LogicalCluster {
  if (isStarting(object)) return object
  const held = bindings
    .flatMap(({ metadata, status }) =>
      (status?.boundResources ?? []).map(bound => [resourceName(bound), { n: metadata.name ?? '' }] as const),
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const annotation = JSON.stringify(Object.fromEntries(held))
  if (object.metadata.annotations?.[resourceBindingsAnnotation] === annotation) return object
  const annotations = { ...object.metadata.annotations, [resourceBindingsAnnotation]: annotation }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
