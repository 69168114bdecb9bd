import type { Decision } from './authorizer.ts'

/** What a view wants to know before it answers; every answer must allow. */
export type ViewStep = () => Decision | Promise<Decision>

/** What was answered, up to the first refusal. */
export async function untilRefused(steps: readonly ViewStep[]): Promise<readonly Decision[]> {
  const trace: Decision[] = []
  for (const step of steps) {
    const decision = await step()
    trace.push(decision)
    if (decision.effect !== 'allow') break
  }
  return trace
}

/** What is answered to all of them. */
export const allAnswers = (steps: readonly ViewStep[]): Promise<readonly Decision[]> =>
  Promise.all(steps.map(async step => step()))

/** A view's decision: its first refusal, or that nobody refused. */
export function viewDecision(authorizer: string, trace: readonly Decision[]): Decision {
  const refusal = trace.find(({ effect }) => effect !== 'allow')
  const reason = refusal === undefined ? 'access granted' : 'access denied'
  return { effect: refusal?.effect ?? 'allow', reason, authorizer, trace }
}

/** What a logical cluster has answered, as a step of a view. */
export function askedIn(cluster: string, authorizer: string, answer: Decision): Decision {
  const { effect, reason, hint } = answer
  return { effect, reason, authorizer, cluster, trace: [answer], ...(hint === undefined ? {} : { hint }) }
}
