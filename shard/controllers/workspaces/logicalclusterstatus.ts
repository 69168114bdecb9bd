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
import type { Initialization } from './initialization.ts'
import { finished } from './waiting.ts'

type Status = NonNullable<LogicalCluster['status']>

/** What a pass over a logical cluster has found out. */
export interface Findings {
  readonly initialization?: Initialization
  /** Default bindings that are maintained. */
  readonly maintained?: ConditionState | undefined
  /** Who is waited for. */
  readonly waiting?: ConditionState | undefined
}

/** The next status (chapter 20, section 3.6). Going to Initializing, admission fills in who has to finish. */
export function nextStatus({ status = {}, metadata }: LogicalCluster, found: Findings): Status {
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
