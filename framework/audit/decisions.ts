import type { Decision } from '../contract/authorizer.ts'
import type { DecisionDomain } from '../contract/context.ts'
import { isOfView, printStep, stepsIn } from '../contract/decisionsteps.ts'

/**
 * kcp's annotations: Kubernetes' two of the whole decision, then two of each step (chapter 30, section 2.3). A view asks
 * the same authorizers in several logical clusters: only its own steps have names of their own.
 */
export function decisionAnnotations(domain: DecisionDomain, decision: Decision): Record<string, string> {
  const annotations: Record<string, string> = {}
  if (domain === 'request.auth.kcp.io') {
    annotations['authorization.k8s.io/decision'] = decision.effect === 'allow' ? 'allow' : 'forbid'
    annotations['authorization.k8s.io/reason'] = decision.reason
  }
  const printed = isOfView(decision) ? (decision.trace ?? []).map(printStep) : stepsIn(decision)
  for (const { authorizer, decision: said, reason } of printed) {
    if (authorizer === '') continue
    annotations[`${domain}/${authorizer}-decision`] = said
    annotations[`${domain}/${authorizer}-reason`] = reason
  }
  return annotations
}

/** The question behind a refusal: of the step that refused, where views asked others. */
export function refusedQuestion(decision: Decision): Decision['asked'] {
  const last = decision.trace?.at(-1)
  return (last === undefined ? undefined : refusedQuestion(last)) ?? decision.asked
}
