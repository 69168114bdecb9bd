import { type Awaitable, after } from '../async/awaitable.ts'
import { authorize, forbiddenTo } from '../contract/authorize.ts'
import type { RequestContext } from '../contract/context.ts'
import { contextWith, createContext } from '../contract/requestcontext.ts'
import type { Forwarding } from '../contract/upstream.ts'
import { impersonate } from '../impersonation/impersonate.ts'
import { wantedIdentity } from '../impersonation/wanted.ts'
import { badRequest, notServed, serviceUnavailable } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import { parseDuration } from '../request/duration.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { userOf } from './authenticate.ts'
import { type Admitted, dispatch, type Sources } from './dispatch.ts'
import { text } from './health.ts'
import { type Inflight, tooMany } from './inflight.ts'
import { locate } from './locate.ts'
import { answerBeyond, beyondOf, type WayOut } from './mounts.ts'
import type { RunningViews } from './readiness.ts'
import { homeOf, namedCluster, shardCluster, type Target, type Unresolved } from './resolve.ts'
import type { Routes } from './routes.ts'
import type { Exchange } from './serve.ts'

/** What a request passes through. */
export interface Pipeline extends Sources, WayOut {
  readonly routes: Routes
  readonly views: RunningViews
  /** Milliseconds. */
  readonly requestTimeout: number
  readonly inflight: Inflight
}

/**
 * One request, top to bottom: which view, what for, how long, who asks, may they, and what is the answer. Later steps
 * know what earlier ones found out, and whatever is wrong is thrown as a `StatusError`.
 * Steps that need nobody else are done at once, so that what lies in memory is answered without waiting.
 */
export function answerRequest(pipeline: Pipeline, exchange: Exchange): Awaitable<Answer | Forwarding> {
  const { incoming } = exchange
  const beyond = beyondOf(pipeline, incoming)
  if (beyond !== undefined)
    return answerBeyond(pipeline, exchange, beyond, next => answerRequest(pipeline, next))
  const target = pipeline.routes(incoming)
  if (isOfShard(target)) return text(501, 'shard-level endpoint not available at workspace scope\n')
  limitTime(pipeline, exchange, target.info)
  const cluster = namedCluster(pipeline.backend, target)
  exchange.audit?.about(target.info, cluster, target.workspace?.path.pattern === '')
  const user = userOf(pipeline.authenticator, exchange, { cluster, path: target.info.path })
  return after(user, requestor => answerUser(pipeline, exchange, target, requestor))
}

/** The rest, for somebody: may they, and what is the answer. */
function answerUser(
  pipeline: Pipeline,
  exchange: Exchange,
  target: Target | Unresolved,
  requestor: UserInfo,
): Awaitable<Answer | Forwarding> {
  exchange.record.annotate('user', requestor.name)
  exchange.audit?.by(requestor)
  if (target.workspace === undefined) throw unresolved(requestor, target.info)
  const asking = { exchange, target: homeOf(target, requestor), user: requestor }
  const asker = exchange.incoming.impersonates ? asOther(pipeline, asking) : asking
  return after(asker, known =>
    enters(pipeline, known)
      ? after(admit(pipeline, known), admitted => dispatch(pipeline, admitted))
      : tooMany,
  )
}

/** Takes a place until the answer is out; false: there is none. */
function enters({ inflight }: Pipeline, { exchange, target: { info }, user }: Asking): boolean {
  if (isLongRunning(info)) return true
  const leave = inflight.enter(user, info)
  if (leave !== undefined) exchange.lifetime.finally(leave)
  return leave !== undefined
}

/** Metrics are of all logical clusters together, never of one (chapter 30, section 2.1). */
const isOfShard = (target: Target | Unresolved): boolean =>
  target.info.path === '/metrics' && target.workspace?.path.pattern === '' && target.cluster !== undefined

/** The same request, as whom its headers name. */
async function asOther({ backend }: Pipeline, asking: Asking): Promise<Asking> {
  const { exchange, target, user: requestor } = asking
  const wanted = wantedIdentity(exchange.incoming.credentials)
  refuseBareUrl(asking)
  const { authorizer } = backend
  const { signal } = exchange.lifetime
  const asker = { user: requestor, info: target.info, lifetime: exchange.lifetime }
  const cluster = await locate(backend, target.cluster ?? shardCluster, asker)
  const { info } = target
  const { user, constraint } = await impersonate({ requestor, wanted, cluster, info, authorizer, signal })
  exchange.record.annotate('impersonated', user.name)
  exchange.audit?.as(user, constraint)
  return { ...asking, user, requestor }
}

/** Watches live until somebody ends them; everything else has a deadline (chapter 40, rules 1.39–1.42). */
function limitTime(
  { requestTimeout, stopping }: Pipeline,
  { incoming, lifetime }: Exchange,
  info: RequestInfo,
): void {
  if (isLongRunning(info)) {
    lifetime.limit(undefined)
    lifetime.follow(stopping, 'shutdown')
    return
  }
  if (incoming.search === '') return
  const asked = timeoutIn(incoming.query)
  if (asked > 0) lifetime.limit(Math.min(asked, requestTimeout))
}

const longRunning = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

const isLongRunning = (info: RequestInfo): boolean =>
  info.isResource && (info.verb === 'watch' || longRunning.has(info.subresource))

function timeoutIn(query: URLSearchParams): number {
  try {
    return parseDuration(query.get('timeout') || '0')
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}

/** The privileged learn that nothing is there; others only that it is not for them (chapter 10, section 1.2). */
const unresolved = (user: UserInfo, info: RequestInfo): Error =>
  isPrivileged(user) ? notServed() : forbiddenTo(user, info, 'Path not resolved to a valid virtual workspace')

interface Asking {
  readonly exchange: Exchange
  readonly target: Target
  readonly user: UserInfo
  /** Who really asks, where the user is impersonated. */
  readonly requestor?: UserInfo
}

function refuseBareUrl({ target, user }: Asking): void {
  if (target.cluster === undefined && !isPrivileged(user))
    throw forbiddenTo(user, target.info, 'access denied')
}

/** Throws unless the view is there and lets the user in. */
function admit(pipeline: Pipeline, asking: Asking): Awaitable<Admitted> {
  const { backend, views } = pipeline
  const { exchange, target, user } = asking
  const { workspace, cluster, scope, info } = target
  if (!views.isReady(workspace.name)) {
    throw serviceUnavailable(`${workspace.name} virtual workspace controllers are not started`, 1)
  }
  refuseBareUrl(asking)
  const asker = { user, info, lifetime: exchange.lifetime }
  const located = scope ?? locate(backend, cluster ?? shardCluster, asker)
  return after(located, found => {
    const ctx = contextOf(asking, found)
    return after(authorize(ctx, workspace, backend.authorizer), () => {
      const refusal = backend.refusal?.(ctx.cluster, ctx.info)
      if (refusal !== undefined) throw refusal
      return after(workspace.guard?.(ctx), () => ({ ctx, workspace, exchange }))
    })
  })
}

function contextOf(asking: Asking, cluster: ClusterScope): RequestContext {
  const { exchange, target, user, requestor } = asking
  const { workspace, params, info } = target
  const { incoming, lifetime, record } = exchange
  const deepReview = incoming.headers['x-kcp-internal-deep-subjectaccessreview'] === 'true'
  const ctx = createContext({
    workspace: workspace.name,
    params,
    cluster,
    info,
    user,
    requestor,
    actAs: user,
    hops: incoming.hops,
    deepReview,
    record,
    lifetime,
  })
  return workspace.actAs === undefined ? ctx : contextWith(ctx, { actAs: workspace.actAs(ctx) })
}
