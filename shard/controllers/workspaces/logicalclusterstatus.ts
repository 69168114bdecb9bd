import type { ClusterName } from '../../../framework/meta/object.ts'
import { inactiveAnnotation } from '../../../kcp/annotations.ts'
import {
  type ConditionState,
  findCondition,
  isFalse,
  isTrue,
  removeCondition,
  setConditions,
} from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { resources } from '../../../kcp/resources.ts'
import { derived } from '../../admission/kcp/logicalcluster.ts'
import { type Holder, holderIn, holderOf } from '../../bindings/holders.ts'
import type { KcpControllerDeps } from '../host.ts'
import { controllersFinished } from './controllersfinished.ts'
import type { Initialization } from './initialization.ts'

/** The LogicalCluster as it is stored together with what it misses; undefined while it waits for others. */
export function readyAfter(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  current: LogicalCluster,
  found: StepResult & Required<Pick<StepResult, 'initialization'>>,
): LogicalCluster | undefined {
  const next = withStatus(deps, cluster, current, found)
  if (next.status?.phase !== 'Ready') return undefined
  const missing = found.initialization.missing.bindings.map(each => holderIn(each.object))
  return derived(next, [...bindingsIn(deps, cluster), ...missing])
}

export const bindingsIn = ({ informers }: KcpControllerDeps, cluster: ClusterName): readonly Holder[] =>
  informers.for(resources.apiBindings).list(cluster).map(holderOf)

/** The LogicalCluster with its next status. */
export const withStatus = (
  { shard }: KcpControllerDeps,
  cluster: ClusterName,
  now: LogicalCluster,
  found: StepResult,
): LogicalCluster => ({
  ...now,
  status: { ...nextStatus(now, found), URL: `${shard.externalURL}/clusters/${cluster}` },
})

type Status = NonNullable<LogicalCluster['status']>

/** The results of one step of a LogicalCluster. */
export interface StepResult {
  readonly initialization?: Initialization
  /** The condition of bindings with the lifecycle `Maintain`. */
  readonly maintained?: ConditionState | undefined
  /** The condition `ControllersFinished`. */
  readonly waiting?: ConditionState | undefined
  /** The status is stored already. */
  readonly isStored?: true
}

/** The next status. In the step to `Initializing`, admission copies the initializers of the spec to the status. */
function nextStatus({ status = {}, metadata }: LogicalCluster, found: StepResult): Status {
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

function initializing(status: Status, { initialization, waiting }: StepResult): Status {
  const done = initialization?.finished ?? []
  const initializers = (status.initializers ?? []).filter(each => !done.includes(each))
  const text = `Initializers still exist: [${initializers.join(' ')}]`
  const type = 'WorkspaceInitialized'
  const isReady = initializers.length === 0
  const state = isReady ? isTrue(type) : isFalse(type, 'Info', 'InitializerExists', text)
  const conditions =
    waiting === undefined ? removeCondition(status.conditions, controllersFinished) : status.conditions
  const bindings = toldBefore(status, initialization?.bindings)
  return {
    ...status,
    phase: isReady ? 'Ready' : 'Initializing',
    initializers,
    conditions: setConditions(conditions, [state, ...bindings, ...(waiting === undefined ? [] : [waiting])]),
  }
}

/** A True condition is set only where the condition was False before. */
function toldBefore({ conditions }: Status, state: ConditionState | undefined): readonly ConditionState[] {
  if (state === undefined) return []
  return state.status === 'False' || findCondition(conditions, state.type) !== undefined ? [state] : []
}
