import { timestamp } from '../framework/meta/object.ts'

export type ConditionStatus = 'True' | 'False' | 'Unknown'
export type Severity = 'Error' | 'Warning' | 'Info'

/** A condition of kcp (`sdk/apis/third_party/conditions`), which has a severity, unlike those of metav1. */
export interface Condition {
  readonly type: string
  readonly status: ConditionStatus
  readonly severity?: Severity
  readonly lastTransitionTime: string
  readonly reason?: string
  readonly message?: string
}

/** A condition without its time. */
export type ConditionState = Omit<Condition, 'lastTransitionTime'>

export type Conditions = readonly Condition[]

export const isTrue = (type: string): ConditionState => ({ type, status: 'True' })

/** A False condition. */
export const isFalse = (
  type: string,
  severity: Severity,
  reason: string,
  message: string,
): ConditionState => ({ type, status: 'False', severity, reason, message })

export const findCondition = (conditions: Conditions | undefined, type: string): Condition | undefined =>
  conditions?.find(condition => condition.type === type)

export const conditionIs = (
  conditions: Conditions | undefined,
  type: string,
  status: ConditionStatus,
): boolean => findCondition(conditions, type)?.status === status

/**
 * Sets conditions: `Ready` first, then by type. The time of a condition changes with its other fields; returns the
 * same list when nothing changes.
 */
export function setConditions(
  conditions: Conditions | undefined,
  states: readonly ConditionState[],
  now: Date = new Date(),
): Conditions {
  const list = conditions ?? []
  const changed = states.filter(state => !isSame(findCondition(list, state.type), state))
  if (changed.length === 0) return list
  const types = new Set(changed.map(state => state.type))
  const time = timestamp(now)
  return [...list.filter(({ type }) => !types.has(type)), ...changed.map(state => stamped(state, time))].sort(
    byType,
  )
}

export const removeCondition = (conditions: Conditions | undefined, type: string): Conditions =>
  findCondition(conditions, type) ? (conditions ?? []).filter(c => c.type !== type) : (conditions ?? [])

/**
 * The summary `Ready`: the worst of the considered conditions, False by severity before True before Unknown;
 * Unknown without any.
 */
export function summary(conditions: Conditions | undefined, considered: readonly string[]): ConditionState {
  const present = (conditions ?? []).filter(({ type }) => considered.includes(type))
  const worst = present.toSorted((a, b) => badness(a) - badness(b))[0]
  if (worst === undefined) return { type: 'Ready', status: 'Unknown' }
  const { lastTransitionTime: _, ...state } = worst
  return { ...state, type: 'Ready' }
}

const order: readonly string[] = ['FalseError', 'FalseWarning', 'FalseInfo', 'True', 'Unknown']

const badness = ({ status, severity }: Condition): number =>
  order.indexOf(status === 'False' ? `False${severity ?? 'Error'}` : status)

const isSame = (old: Condition | undefined, state: ConditionState): boolean =>
  old !== undefined &&
  old.status === state.status &&
  (old.severity ?? '') === (state.severity ?? '') &&
  (old.reason ?? '') === (state.reason ?? '') &&
  (old.message ?? '') === (state.message ?? '')

function stamped(state: ConditionState, lastTransitionTime: string): Condition {
  const { type, status, severity, reason, message } = state
  return {
    type,
    status,
    ...(severity === undefined ? {} : { severity }),
    lastTransitionTime,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  }
}

function byType(a: Condition, b: Condition): number {
  if (a.type === 'Ready' || b.type === 'Ready') return a.type === 'Ready' ? -1 : 1
  return a.type < b.type ? -1 : 1
}
