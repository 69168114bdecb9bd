import type { Awaitable } from '../async/awaitable.ts'
import { forbidden, type StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { RequestInfo, ResourceRequest } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'
import type { Selectors } from '../selectors/selectors.ts'

/**
 * The attributes of a request for authorization: a resource or a non-resource path (`authorizer.Attributes` of
 * `k8s.io/apiserver`). RBAC does not evaluate the selectors.
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
  /** Skips the checks of access to the workspace (kcp `pkg/authorization`, deep SubjectAccessReview). */
  readonly deep?: boolean
  /** For non-resource actions: the path below the view and cluster prefix, such as `/healthz` or `/`. */
  readonly path?: string
}

/** A user and an action. */
export interface Question {
  readonly user: UserInfo
  readonly action: Action
}

/** The decision of an authorizer. `allow` and `deny` make one. */
export interface Decision {
  readonly effect: 'allow' | 'deny' | 'no opinion'
  /** For the client: the end of the message of a 403. */
  readonly reason: string
  /** The authorizer, for the trace: '05-local', 'virtual.apiexport.content'. */
  readonly authorizer?: string
  /** The logical cluster whose rules decided, for views that evaluate several. */
  readonly cluster?: ClusterScope
  /** The authorizer delegated the decision to the later ones in the trace, whose `effect` this is. */
  readonly delegated?: true
  /** How to get the permission. Must not depend on objects that the user cannot read. */
  readonly hint?: string
  /** The user and action of the decision, if it can be explained further. */
  readonly asked?: Question
  /** The decisions that led to this one, in order. */
  readonly trace?: readonly Decision[]
}

/** Decides whether a user may perform an action. If it throws, the request is denied with 500. */
export interface Authorizer {
  authorize(user: UserInfo, action: Action, signal: AbortSignal): Promise<Decision>
  /** The same without a promise, for authorizers that decide from memory. */
  readonly decide?: (user: UserInfo, action: Action) => Decision
  /** Drops the cached decisions about a logical cluster, or about `*`: of authorizers that ask another server. */
  readonly forget?: (cluster: ClusterScope) => void
}

/** The decision of an authorizer, without a promise if it decides from memory. */
export const decisionBy = (
  authorizer: Authorizer,
  { user, action }: Question,
  request: { readonly signal: AbortSignal },
): Awaitable<Decision> =>
  authorizer.decide?.(user, action) ?? authorizer.authorize(user, action, request.signal)

/** An authorizer that decides from memory. */
export type MemoryAuthorizer = Authorizer & Required<Pick<Authorizer, 'decide'>>

export const fromMemory = (decide: MemoryAuthorizer['decide']): MemoryAuthorizer => ({
  decide,
  authorize: async (user, action) => decide(user, action),
})

/** A decision that allows the request. `authorizer`: the name for the audit log. */
export const allow = (reason: string, authorizer?: string): Decision => decision('allow', reason, authorizer)
/** A decision that denies the request with 403; `reason` is the end of its message. */
export const deny = (reason: string, authorizer?: string): Decision => decision('deny', reason, authorizer)
/** A decision that neither allows nor denies. If no authorizer allows a request, it is denied with 403. */
export const noOpinion = (reason: string, authorizer?: string): Decision =>
  decision('no opinion', reason, authorizer)

const decision = (effect: Decision['effect'], reason: string, authorizer?: string): Decision =>
  authorizer === undefined ? { effect, reason } : { effect, reason, authorizer }

/** One check of a view's authorization. All checks of a request must allow it. */
export type ViewStep = () => Decision | Promise<Decision>

/** Runs checks in order up to the first that does not allow; returns the decisions. */
export async function decideUntilRefused(steps: readonly ViewStep[]): Promise<readonly Decision[]> {
  const trace: Decision[] = []
  for (const step of steps) {
    const decision = await step()
    trace.push(decision)
    if (decision.effect !== 'allow') break
  }
  return trace
}

/** Runs all checks at the same time; returns the decisions in order. */
export const decideAll = (steps: readonly ViewStep[]): Promise<readonly Decision[]> =>
  Promise.all(steps.map(async step => step()))

/**
 * The decision of a view: the effect of the first check that does not allow, else `allow`. `authorizer`: the name of the
 * view's authorizer, for the audit log.
 */
export function viewDecision(authorizer: string, trace: readonly Decision[]): Decision {
  const refusal = trace.find(({ effect }) => effect !== 'allow')
  const reason = refusal === undefined ? 'access granted' : 'access denied'
  return { effect: refusal?.effect ?? 'allow', reason, authorizer, trace }
}

/** The decision of the backend's authorizer in `cluster`, as a check of a view. */
export function clusterDecision(cluster: string, authorizer: string, answer: Decision): Decision {
  const { effect, reason, hint } = answer
  return { effect, reason, authorizer, cluster, trace: [answer], ...(hint === undefined ? {} : { hint }) }
}

/** The action of a request in a logical cluster. */
export function actionOf(info: RequestInfo | ResourceVerbRequest, cluster: ClusterScope): Action {
  if (!info.isResource) return { verb: info.verb, cluster, path: info.path }
  const { group, version, resource, subresource, namespace, name, selectors } = info
  const target = { group, version, resource, subresource, namespace, name }
  return { verb: info.verb, cluster, resource: target, ...selectors }
}

/** A resource request with any verb, such as `impersonate`, which URLs do not have. */
export type ResourceVerbRequest = Omit<ResourceRequest, 'verb'> & { readonly verb: string }

/**
 * The 403 for a denied request: user, verb, resource and the authorizer's reason (rules.md 2.10). `hint` becomes a cause
 * `MissingPermission` of the Status.
 */
export function forbiddenTo(
  user: UserInfo,
  info: RequestInfo | ResourceVerbRequest,
  reason = '',
  hint?: string,
): StatusError {
  const why = escapeHtml(`User ${JSON.stringify(user.name)} cannot ${info.verb} ${objectOf(info)}`)
  const causes = hint === undefined ? undefined : [{ reason: 'MissingPermission', message: hint }]
  return forbidden(info.isResource ? info : undefined, reason === '' ? why : `${why}: ${reason}`, causes)
}

function objectOf(info: RequestInfo | ResourceVerbRequest): string {
  if (!info.isResource) return `path ${JSON.stringify(info.path)}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`
  return `resource "${resource}" in API group "${info.group}" ${where}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, character => entities[character] ?? '')
