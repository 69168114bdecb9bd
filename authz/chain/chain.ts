import {
  type Action,
  type Authorizer,
  type Decision,
  fromMemory,
  type MemoryAuthorizer,
  noOpinion,
} from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { type AuthorizerAttributes, attributesFor } from './attributes.ts'

/** One step before RBAC: it decides, or delegates to the next steps with a reason. Reads only memory. */
export interface Gate {
  /** The name in kcp's audit annotations: '02-content'. */
  readonly name: string
  check(attributes: AuthorizerAttributes): GateDecision
}

export type GateDecision = Decision | Delegation

export interface Delegation {
  readonly delegate: string
}

export const delegate = (why: string): Delegation => ({ delegate: why })

/** One of the RBAC policies: the first that allows decides. */
export type PolicyStep = (attributes: AuthorizerAttributes) => Decision

/**
 * Gates in order, then the RBAC policies. A gate's "no opinion" also ends the chain. Clients get only `access granted`
 * or `access denied`, so that they do not learn what exists; the trace has the reason of each step, and for a gate that
 * delegates the final decision, as in kcp's audit annotations.
 */
export const chain = (gates: readonly Gate[], steps: readonly PolicyStep[]): MemoryAuthorizer =>
  fromMemory((user, action) => {
    const attributes = attributesFor(user, action)
    const delegations: string[] = []
    for (const { name, check } of gates) {
      const verdict = check(attributes)
      if (!('delegate' in verdict))
        return concluded(gates, attributes, delegations, [{ ...verdict, authorizer: name }])
      delegations.push(verdict.delegate)
    }
    return concluded(gates, attributes, delegations, firstThatAllows(steps, attributes))
  })

function firstThatAllows(
  steps: readonly PolicyStep[],
  attributes: AuthorizerAttributes,
): readonly Decision[] {
  const decisions: Decision[] = []
  for (const step of steps) {
    const decision = step(attributes)
    decisions.push(decision)
    if (decision.effect === 'allow') break
  }
  return decisions
}

function concluded(
  gates: readonly Gate[],
  { user, action }: AuthorizerAttributes,
  delegations: readonly string[],
  decisions: readonly Decision[],
): Decision {
  const last = decisions.at(-1)
  const effect = last?.effect ?? 'no opinion'
  const delegated = delegations.map((why, i): Decision => {
    return { effect, reason: `delegating due to ${why}`, authorizer: gates[i]?.name ?? '', delegated: true }
  })
  return {
    effect,
    reason: effect === 'allow' ? 'access granted' : 'access denied',
    authorizer: last?.authorizer ?? '',
    asked: { user, action },
    // The hint is only for users who have passed all gates.
    ...(effect !== 'allow' && delegations.length === gates.length ? { hint: missingRole } : {}),
    trace: [...delegated, ...decisions],
  }
}

const missingRole =
  'you have access to this workspace, but no role in it that allows this; "oriel explain" says which rule is missing'

/**
 * The first "allow" or "deny" decides; otherwise no opinion, with all reasons (`authorization/union` of
 * `k8s.io/apiserver`).
 */
export function firstOpinion(authorizers: readonly Authorizer[]): Authorizer {
  const atOnce = authorizers.flatMap(({ decide }) => decide ?? [])
  if (atOnce.length === authorizers.length) return fromMemory((...asked) => firstAtOnce(atOnce, ...asked))
  return {
    authorize: async (user, action, signal) => {
      const undecided: Decision[] = []
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(user, action, signal)
        if (decision.effect !== 'no opinion') return decided(undecided, decision)
        undecided.push(decision)
      }
      return noneOf(undecided)
    },
  }
}

function firstAtOnce(
  authorizers: readonly MemoryAuthorizer['decide'][],
  user: UserInfo,
  action: Action,
): Decision {
  const undecided: Decision[] = []
  for (const decide of authorizers) {
    const decision = decide(user, action)
    if (decision.effect !== 'no opinion') return decided(undecided, decision)
    undecided.push(decision)
  }
  return noneOf(undecided)
}

function noneOf(undecided: readonly Decision[]): Decision {
  const reasons = undecided.map(({ reason }) => reason).filter(reason => reason !== '')
  const last = undecided.findLast(decision => decision.reason !== '')
  const explicable = undecided.find(decision => decision.asked !== undefined)
  return { ...explicable, ...noOpinion(reasons.join('\n'), last?.authorizer), trace: traceOf(undecided) }
}

const decided = (before: readonly Decision[], decision: Decision): Decision =>
  before.length === 0 ? decision : { ...decision, trace: traceOf([...before, decision]) }

/** Decisions without a reason are not part of the trace. */
const traceOf = (decisions: readonly Decision[]): readonly Decision[] =>
  decisions.flatMap(decision => decision.trace ?? (decision.reason === '' ? [] : [decision]))
