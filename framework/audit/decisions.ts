import type { Decision } from '../authorizer.ts'
import type { DecisionDomain } from '../context.ts'

const words = { allow: 'Allowed', deny: 'Denied', 'no opinion': 'NoOpinion' } as const

/** kcp's annotations: Kubernetes' two of the whole decision, then two of each step (chapter 30, section 2.3). */
export function decisionAnnotations(domain: DecisionDomain, decision: Decision): Record<string, string> {
  const annotations: Record<string, string> = {}
  if (domain === 'request.auth.kcp.io') {
    annotations['authorization.k8s.io/decision'] = decision.effect === 'allow' ? 'allow' : 'forbid'
    annotations['authorization.k8s.io/reason'] = decision.reason
  }
  for (const { authorizer = '', effect, reason } of flattened(decision)) {
    annotations[`${domain}/${authorizer}-decision`] = words[effect]
    annotations[`${domain}/${authorizer}-reason`] = reason
  }
  return annotations
}

/** A view's steps may have steps of their own. */
const flattened = ({ trace = [] }: Decision): readonly Decision[] =>
  trace.flatMap(step => [...(step.authorizer ? [step] : []), ...flattened(step)])

/** The question behind a refusal: of the step that refused, where views asked others. */
export function refusedQuestion(decision: Decision): Decision['asked'] {
  const last = decision.trace?.at(-1)
  return (last === undefined ? undefined : refusedQuestion(last)) ?? decision.asked
}
