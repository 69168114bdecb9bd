import {
  type ConditionState,
  conditionIs,
  isFalse,
  isTrue,
  removeCondition,
  setConditions,
} from '../../../kcp/conditions.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../../kcp/core.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { controllersFinished } from './controllersfinished.ts'

type Status = NonNullable<Workspace['status']>

/**
 * The status of a scheduled workspace, from its LogicalCluster; `waiting` is the condition `ControllersFinished`.
 */
export function workspaceStatus(
  { spec, status = {} }: Workspace,
  home: LogicalCluster | undefined,
  waiting?: ConditionState,
): Status {
  const initialized = initialization(status, home, spec?.cluster ?? '')
  const states = [isTrue('WorkspaceScheduled'), initialized, ...(waiting === undefined ? [] : [waiting])]
  const known =
    waiting === undefined ? removeCondition(status.conditions, controllersFinished) : status.conditions
  const conditions = setConditions(known, states)
  const phase = phaseOf(status.phase ?? 'Scheduling', conditions)
  return { ...withRemaining(status, home), phase, conditions }
}

/** Copies the remaining initializers and terminators. */
export function withRemaining(status: Status, home: LogicalCluster | undefined): Status {
  const { initializers: _, terminators: __, ...rest } = status
  const { initializers = [], terminators = [] } = home?.status ?? {}
  return {
    ...rest,
    ...(initializers.length === 0 ? {} : { initializers }),
    ...(terminators.length === 0 ? {} : { terminators }),
  }
}

const type = 'WorkspaceInitialized'

function initialization(
  { phase, conditions }: Status,
  home: LogicalCluster | undefined,
  cluster: string,
): ConditionState {
  if (home === undefined)
    return isFalse(type, 'Error', 'WorkspaceDisappeared', `LogicalCluster ${cluster} not found`)
  const waiting = (message: string): ConditionState => isFalse(type, 'Info', 'InitializerExists', message)
  const isReady = conditionIs(conditions, type, 'True') && phase !== 'Initializing'
  if (isReady || home.status?.phase === 'Ready') return isTrue(type)
  if (home.status?.phase !== 'Initializing') return waiting('LogicalCluster is not initializing yet')
  return waiting(`Initializers still exist: [${(home.status.initializers ?? []).join(' ')}]`)
}

/** `Ready` after initialization; `Unavailable` while a condition `Workspace…` is False. */
function phaseOf(phase: LogicalClusterPhase, conditions: Status['conditions']): LogicalClusterPhase {
  const isReady = conditionIs(conditions, type, 'True')
  if (phase === 'Scheduling' || phase === 'Initializing') return isReady ? 'Ready' : 'Initializing'
  const failing = (conditions ?? []).some(c => c.type.startsWith('Workspace') && c.status === 'False')
  if (phase === 'Ready' && failing) return 'Unavailable'
  return phase === 'Unavailable' && !failing ? 'Ready' : phase
}
