import { isDeepStrictEqual } from 'node:util'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { inactiveAnnotation, isCopy } from '../../../kcp/annotations.ts'
import {
  type ConditionState,
  findCondition,
  isFalse,
  isTrue,
  removeCondition,
  setConditions,
} from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { withLocks } from '../../admission/kcp/metadata.ts'
import { isDeparting, type Stored } from '../../bindings/content.ts'
import { clusterScoped, updateObject, updateStatus } from '../client.ts'
import { type Controller, createController } from '../controller.ts'
import { maintainBindings } from '../exports/defaultbindings.ts'
import type { KcpControllerDeps } from '../host.ts'
import { adminBinding, type Initialization, initialize, isBrief, missingAdmin } from './initialization.ts'

import { deleteLogicalCluster } from './logicalclusterdeletion.ts'
import { awaited, finished } from './waiting.ts'

/** Milliseconds for which default bindings may be on their way before that is told. */
const patience = 2_000

/** Takes every logical cluster through its phases (chapter 20, sections 3.6 and 3.8). */
export function logicalClusterController(deps: KcpControllerDeps): Controller {
  /** Clusters that other workspaces' exports and types concern. */
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
    return report(deps, cluster, current, found)
  }
  const around = ({ item: { cluster } }: Stored): readonly string[] => {
    const home = clusters.get(cluster, '', logicalClusterName)
    return home !== undefined && isDeparting(home) ? [cluster] : []
  }
  return createController(
    {
      name: 'logicalcluster',
      reconcile,
      sources: changesOf(deps, dependent),
      departures: { content: deps.content, keys: around },
    },
    deps.log,
  )
}

const clusterOf = ({ item }: ItemEvent): readonly string[] => [item.key.cluster]

function changesOf(
  { content, informers, tenancy, directory }: KcpControllerDeps,
  dependent: ReadonlySet<ClusterName>,
) {
  const { group, resource, identity = '' } = tenancy.workspaces
  /** A cluster that is being deleted has waited for its last child. */
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
  /** A new binding binds nothing yet. */
  const bound = (event: ItemEvent): readonly string[] => (event.type === 'ADDED' ? [] : clusterOf(event))
  return [
    { informer: informers.for(resources.logicalClusters), keys: clusterOf },
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
): Promise<Findings> {
  const waiting = awaited(deps, current)
  if (current.status?.phase === 'Initializing')
    return { initialization: await initialize(deps, cluster, current), waiting }
  await deps.content.add(missingAdmin(deps, cluster, current))
  return { maintained: await maintainBindings(deps, cluster, current), waiting }
}

/** Default bindings take a moment: what is only on its way is not told before it has had that. */
async function report(
  { client, informers, shard }: KcpControllerDeps,
  cluster: ClusterName,
  current: LogicalCluster,
  found: Findings,
): Promise<number | undefined> {
  const age = Date.now() - Date.parse(current.metadata.creationTimestamp ?? '')
  const { reason } = found.initialization?.bindings ?? {}
  if (isBrief(current) && reason === 'WaitingOnAPIBindings' && age < patience) return patience
  const wanted = (now: LogicalCluster): LogicalCluster => ({
    ...now,
    status: { ...nextStatus(now, found), URL: `${shard.externalURL}/clusters/${cluster}` },
  })
  const bindings = informers.for(resources.apiBindings).list(cluster)
  const key = clusterScoped(cluster, logicalClusterName)
  if (!isDeepStrictEqual(wanted(current).status, current.status))
    await updateStatus<LogicalCluster>(client, resources.logicalClusters, key, wanted)
  else if (withLocks(current, bindings) !== current)
    await updateObject<LogicalCluster>(client, resources.logicalClusters, key, now =>
      withLocks(now, bindings),
    )
  return undefined
}

type Status = NonNullable<LogicalCluster['status']>

/** What a pass over a logical cluster has found out. */
interface Findings {
  readonly initialization?: Initialization
  /** Default bindings that are maintained. */
  readonly maintained?: ConditionState | undefined
  /** Who is waited for. */
  readonly waiting?: ConditionState | undefined
}

/** The next status (chapter 20, section 3.6). Going to Initializing, admission fills in who has to finish. */
function nextStatus({ status = {}, metadata }: LogicalCluster, found: Findings): Status {
  const { phase = 'Scheduling' } = status
  const inactive = metadata.annotations?.[inactiveAnnotation] === 'true'
  if (phase === 'Scheduling') return { ...status, phase: 'Initializing' }
  if (phase === 'Initializing') return initializing(status, found)
  const kept = found.maintained === undefined ? status : withConditions(status, [found.maintained])
  if (phase === 'Ready' && inactive) return { ...kept, phase: 'Inactive' }
  return phase === 'Inactive' && !inactive ? { ...kept, phase: 'Ready' } : kept
}

const withConditions = (status: Status, states: readonly ConditionState[]): Status => ({
  ...status,
  conditions: setConditions(status.conditions, states),
})

function initializing(status: Status, { initialization, waiting }: Findings): Status {
  const done = initialization?.finished ?? []
  const initializers = (status.initializers ?? []).filter(each => !done.includes(each))
  const text = `Initializers still exist: [${initializers.join(' ')}]`
  const type = 'WorkspaceInitialized'
  const isReady = initializers.length === 0
  const state = isReady ? isTrue(type) : isFalse(type, 'Info', 'InitializerExists', text)
  const conditions = waiting === undefined ? removeCondition(status.conditions, finished) : status.conditions
  const bindings = toldBefore(status, initialization?.bindings)
  return {
    ...status,
    phase: isReady ? 'Ready' : 'Initializing',
    initializers,
    conditions: setConditions(conditions, [state, ...bindings, ...(waiting === undefined ? [] : [waiting])]),
  }
}

/** That bindings are there is worth a condition only where their absence had one. */
function toldBefore({ conditions }: Status, state: ConditionState | undefined): readonly ConditionState[] {
  if (state === undefined) return []
  return state.status === 'False' || findCondition(conditions, state.type) !== undefined ? [state] : []
}
