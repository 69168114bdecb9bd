import { LRUCache } from 'lru-cache'
import {
  type Action,
  type Authorizer,
  allow,
  type Decision,
  deny,
  noOpinion,
} from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { effectiveUsers } from '../rbac/effectiveusers.ts'
import { record, text } from '../rbac/rbacsource.ts'
import { reviewAttributes } from './attributes.ts'

export interface WebhookOptions {
  /** Sends a SubjectAccessReview and resolves with the response. Rejects when there is no valid response. */
  readonly send: (review: object, signal: AbortSignal) => Promise<unknown>
  readonly version: 'v1' | 'v1beta1'
  /** How long answers are cached, in milliseconds. */
  readonly allowedFor: number
  readonly refusedFor: number
}

/** Kubernetes' defaults. */
export const webhookDefaults = { version: 'v1beta1', allowedFor: 300_000, refusedFor: 30_000 } as const

const by = 'webhook'
/** Longer requests are not cached, so that clients cannot fill the memory. */
const longest = 10_000

/**
 * Calls an authorization webhook, once for each identity of the user. A failed webhook may have intended to deny, so
 * the request fails.
 */
export function webhookAuthorizer(options: WebhookOptions): Authorizer {
  const answers = new LRUCache<string, Decision>({ max: 8192 })
  const ask = async (user: UserInfo, action: Action, signal: AbortSignal): Promise<Decision> => {
    const spec = specOf(user, action, options.version)
    const key = JSON.stringify(spec)
    const known = answers.get(key)
    if (known !== undefined) return known
    const decision = decisionIn(await options.send(reviewOf(spec, options.version), signal))
    const ttl = decision.effect === 'allow' ? options.allowedFor : options.refusedFor
    if (key.length <= longest && ttl > 0) answers.set(key, decision, { ttl })
    return decision
  }
  return {
    authorize: async (user, action, signal) => {
      const reasons: string[] = []
      for (const identity of effectiveUsers(user, action.cluster)) {
        const decision = await ask(identity, action, signal)
        if (decision.effect !== 'no opinion') return decision
        if (decision.reason !== '') reasons.push(decision.reason)
      }
      return noOpinion(reasons.join('\n'), by)
    },
  }
}

const reviewOf = (spec: object, version: string): object => ({
  kind: 'SubjectAccessReview',
  apiVersion: `authorization.k8s.io/${version}`,
  metadata: {},
  spec,
  status: { allowed: false },
})

/** The `spec` of the review with a fixed order of members: also the key of the cache. */
function specOf(
  { name, uid, groups, extra }: UserInfo,
  action: Action,
  version: WebhookOptions['version'],
): object {
  return {
    ...reviewAttributes(action),
    user: name,
    [version === 'v1' ? 'groups' : 'group']: groups,
    ...(uid ? { uid } : {}),
    extra: {
      ...extra,
      'authorization.kcp.io/cluster-name': [action.cluster],
      'authorization.kubernetes.io/cluster-name': [action.cluster],
    },
  }
}

function decisionIn(answer: unknown): Decision {
  const { allowed, denied, reason } = record(record(answer).status)
  if (typeof allowed !== 'boolean') throw new Error('the authorization webhook returned no status.allowed')
  if (allowed && denied === true)
    throw new Error('the authorization webhook returned both allowed and denied')
  if (allowed) return allow(text(reason), by)
  return denied === true ? deny(text(reason), by) : noOpinion(text(reason), by)
}
