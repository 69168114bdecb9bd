import type { Decision } from './authorizer.ts'

/** The decision of one authorizer for output. */
export interface DecisionStep {
  readonly authorizer: string
  readonly decision: 'Allowed' | 'Denied' | 'NoOpinion'
  readonly reason: string
  /** The logical cluster of the decision, for views that evaluate several. */
  readonly workspace?: string
}

const words = { allow: 'Allowed', deny: 'Denied', 'no opinion': 'NoOpinion' } as const

export const printStep = ({ authorizer = '', effect, reason, cluster }: Decision): DecisionStep => ({
  authorizer,
  decision: words[effect],
  reason,
  ...(cluster === undefined ? {} : { workspace: cluster }),
})

/** All decisions of a trace, in order; a view's check comes before the authorizers that it evaluates. */
export const stepsIn = (decision: Decision): readonly DecisionStep[] =>
  (decision.trace ?? [decision]).flatMap(step => {
    if (step.trace === undefined) return [printStep(step)]
    const { cluster } = step
    const inner = stepsIn(step)
    return cluster === undefined
      ? inner
      : [printStep(step), ...inner.map(each => ({ ...each, workspace: cluster }))]
  })

/** Whether a view evaluated several logical clusters. */
export const isOfView = ({ trace = [] }: Decision): boolean =>
  trace.some(({ cluster }) => cluster !== undefined)
