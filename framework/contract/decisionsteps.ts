import type { Decision } from './authorizer.ts'

/** What one authorizer said, as it is printed. */
export interface DecisionStep {
  readonly authorizer: string
  readonly decision: 'Allowed' | 'Denied' | 'NoOpinion'
  readonly reason: string
  /** The logical cluster in which it said so, where a view asks several. */
  readonly workspace?: string
}

const words = { allow: 'Allowed', deny: 'Denied', 'no opinion': 'NoOpinion' } as const

export const printStep = ({ authorizer = '', effect, reason, cluster }: Decision): DecisionStep => ({
  authorizer,
  decision: words[effect],
  reason,
  ...(cluster === undefined ? {} : { workspace: cluster }),
})

/** Everything that was said, in order; a view's question comes before those whom it asked. */
export const stepsIn = (decision: Decision): readonly DecisionStep[] =>
  (decision.trace ?? [decision]).flatMap(step => {
    if (step.trace === undefined) return [printStep(step)]
    const { cluster } = step
    const inner = stepsIn(step)
    return cluster === undefined
      ? inner
      : [printStep(step), ...inner.map(each => ({ ...each, workspace: cluster }))]
  })

/** Whether a view asked several logical clusters. */
export const isOfView = ({ trace = [] }: Decision): boolean =>
  trace.some(({ cluster }) => cluster !== undefined)
