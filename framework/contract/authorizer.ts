import type { Awaitable } from '../async/awaitable.ts'
import { forbidden, type StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { RequestInfo, ResourceRequest } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { Selectors } from '../selectors/selectors.ts'

/**
 * What somebody wants to do. A resource action names group and resource, and may be limited to some objects, for authorizers
 * that tell them apart: RBAC does not. Anything else is a path.
 */
export interface Action extends Selectors {
  readonly verb: string
  readonly cluster: ClusterScope
  readonly resource?: {
    readonly group: string
    readonly version: string
    readonly resource: string
    readonly subresource: string
    readonly namespace: string
    readonly name: string
  }
  /** Evaluates rules as if the user were already inside the logical cluster (chapter 30, section 2.8, deep SAR). */
  readonly deep?: boolean
  /** For non-resource actions: the path below the view and cluster prefix, such as `/healthz` or `/`. */
  readonly path?: string
}

/** Who wants to do what. */
export interface Question {
  readonly user: UserInfo
  readonly action: Action
}

/** A verdict that carries its reasons as data, so that it can be explained. */
export interface Decision {
  readonly effect: 'allow' | 'deny' | 'no opinion'
  /** What a client may read. */
  readonly reason: string
  /** Who decided, for the trace: '05-local', 'virtual.apiexport.content'. */
  readonly authorizer?: string
  /** The logical cluster whose objects decided, where a view asks several. */
  readonly cluster?: ClusterScope
  /** It left the decision to those behind it in the trace, and `effect` is theirs. */
  readonly delegated?: true
  /** What the user may know besides the reason: the same whatever exists that he cannot see. */
  readonly hint?: string
  /** The question, where somebody could explain it further. */
  readonly asked?: Question
  readonly trace?: readonly Decision[]
}

/** Says whether a user may do something. An authorizer that throws has not allowed: the server answers 500. */
export interface Authorizer {
  authorize(user: UserInfo, action: Action, signal: AbortSignal): Promise<Decision>
  /** The same at once, where it is decided from memory. */
  readonly decide?: (user: UserInfo, action: Action) => Decision
}

/** Asks, at once where it is decided from memory: making a signal costs more than deciding. */
export const decisionBy = (
  authorizer: Authorizer,
  { user, action }: Question,
  asker: { readonly signal: AbortSignal },
): Awaitable<Decision> =>
  authorizer.decide?.(user, action) ?? authorizer.authorize(user, action, asker.signal)

/** An authorizer that asks nobody. */
export const fromMemory = (decide: Required<Authorizer>['decide']): Required<Authorizer> => ({
  decide,
  authorize: async (user, action) => decide(user, action),
})

export const allow = (reason: string, authorizer?: string): Decision => decision('allow', reason, authorizer)
export const deny = (reason: string, authorizer?: string): Decision => decision('deny', reason, authorizer)
export const noOpinion = (reason: string, authorizer?: string): Decision =>
  decision('no opinion', reason, authorizer)

const decision = (effect: Decision['effect'], reason: string, authorizer?: string): Decision =>
  authorizer === undefined ? { effect, reason } : { effect, reason, authorizer }

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

/** A request as an authorizer sees it. */
export function actionOf(info: RequestInfo | ResourceWish, cluster: ClusterScope): Action {
  if (!info.isResource) return { verb: info.verb, cluster, path: info.path }
  const { group, version, resource, subresource, namespace, name, selectors } = info
  const target = { group, version, resource, subresource, namespace, name }
  return { verb: info.verb, cluster, resource: target, ...selectors }
}

/** What is wanted of a resource, with verbs that no URL has: `impersonate`. */
export type ResourceWish = Omit<ResourceRequest, 'verb'> & { readonly verb: string }

/**
 * The 403 of chapter 40, section 2.3: who may not do what where, and the authorizer's reason if it has one. A hint is a
 * cause, which clients that know nothing of it read past.
 */
export function forbiddenTo(
  user: UserInfo,
  info: RequestInfo | ResourceWish,
  reason = '',
  hint?: string,
): StatusError {
  const why = escapeHtml(`User ${JSON.stringify(user.name)} cannot ${info.verb} ${objectOf(info)}`)
  const causes = hint === undefined ? undefined : [{ reason: 'MissingPermission', message: hint }]
  return forbidden(info.isResource ? info : undefined, reason === '' ? why : `${why}: ${reason}`, causes)
}

function objectOf(info: RequestInfo | ResourceWish): string {
  if (!info.isResource) return `path ${JSON.stringify(info.path)}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`
  return `resource "${resource}" in API group "${info.group}" ${where}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, character => entities[character] ?? '')
