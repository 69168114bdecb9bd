import { type Action, type Authorizer, type Decision, noOpinion } from '../framework/authorizer.ts'
import type { UserInfo } from '../framework/user.ts'

/** One step before RBAC: it decides, or says why it leaves the decision to the steps behind it. */
export interface Gate {
  /** As in kcp's audit keys: '02-content'. */
  readonly name: string
  check(user: UserInfo, action: Action, signal: AbortSignal): Promise<Verdict>
}

export type Verdict = Decision | Delegation

export interface Delegation {
  readonly delegate: string
}

export const delegate = (why: string): Delegation => ({ delegate: why })

/**
 * Gates in order, then the last authorizer. A gate's "no opinion" ends the chain, too. What a client reads is only
 * `access granted` or `access denied`, so that nobody learns what exists; the trace keeps every step's own reason.
 */
export function chain(gates: readonly Gate[], last: Authorizer): Authorizer {
  return {
    authorize: async (user, action, signal) => {
      const trace: Decision[] = []
      for (const gate of gates) {
        const verdict = await gate.check(user, action, signal)
        if (!('delegate' in verdict))
          return concluded(verdict, [...trace, { ...verdict, authorizer: gate.name }])
        trace.push(noOpinion(`delegating due to ${verdict.delegate}`, gate.name))
      }
      const decision = await last.authorize(user, action, signal)
      return concluded(decision, [...trace, decision])
    },
  }
}

const concluded = ({ effect }: Decision, trace: readonly Decision[]): Decision => ({
  effect,
  reason: effect === 'allow' ? 'access granted' : 'access denied',
  authorizer: trace.at(-1)?.authorizer ?? '',
  trace,
})

/** The first "allow" or "deny" wins; otherwise no opinion, with all reasons (chapter 30, section 2.2). */
export function firstOpinion(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: async (user, action, signal) => {
      const undecided: Decision[] = []
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(user, action, signal)
        if (decision.effect !== 'no opinion') return decision
        undecided.push(decision)
      }
      const reasons = undecided.map(({ reason }) => reason).filter(reason => reason !== '')
      const trace = undecided.flatMap(decision => decision.trace ?? [decision])
      return { effect: 'no opinion', reason: reasons.join('\n'), trace }
    },
  }
}
