import { userOf } from './authenticate.ts'
import { authorize, forbiddenTo } from './authorize.ts'
import { answerBeyond, beyondOf, type WayOut } from './beyond.ts'
import type { RequestContext } from './context.ts'
import { type Admitted, dispatch, type Sources } from './dispatch.ts'
import { parseDuration } from './duration.ts'
import { badRequest, notServed, serviceUnavailable } from './errors.ts'
import type { Answer } from './exchange.ts'
import { text } from './health.ts'
import { impersonate } from './impersonate.ts'
import { wantedIdentity } from './impersonation.ts'
import { type Inflight, tooMany } from './inflight.ts'
import { locate } from './locate.ts'
import type { ClusterScope } from './object.ts'
import type { Passage } from './passage.ts'
import type { RunningViews } from './readiness.ts'
import { contextWith, createContext } from './requestcontext.ts'
import type { RequestInfo } from './requestinfo.ts'
import { homeOf, namedCluster, resolveUrl, shardCluster, type Target, type Unresolved } from './resolve.ts'
import type { Exchange } from './serve.ts'
import { isPrivileged, type UserInfo } from './user.ts'
import type { VirtualWorkspace } from './workspace.ts'

/** What a request passes through. */
export interface Pipeline extends Sources, WayOut {
  readonly workspaces: readonly VirtualWorkspace[]
  readonly views: RunningViews
  /** Milliseconds. */
  readonly requestTimeout: number
  readonly inflight: Inflight
}

/**
 * One request, top to bottom: which view, what for, how long, who asks, may they, and what is the answer. Later steps
 * know what earlier ones found out, and whatever is wrong is thrown as a `StatusError`.
 */
export async function answerRequest(pipeline: Pipeline, exchange: Exchange): Promise<Answer | Passage> {
  const { incoming } = exchange
  const beyond = beyondOf(pipeline, incoming)
  if (beyond !== undefined)
    return answerBeyond(pipeline, exchange, beyond, next => answerRequest(pipeline, next))
  const target = resolveUrl(pipeline.workspaces, incoming)
  if (isOfShard(target)) return text(501, 'shard-level endpoint not available at workspace scope\n')
  limitTime(pipeline, exchange, target.info)
  const cluster = namedCluster(pipeline.backend, target)
  exchange.audit?.about(target.info, cluster, target.workspace?.path.pattern === '')
  const requestor = await userOf(pipeline.authenticator, exchange, { cluster, path: target.info.path })
  exchange.record.annotate('user', requestor.name)
  exchange.audit?.by(requestor)
  if (target.workspace === undefined) throw unresolved(requestor, target.info)
  const asking = { exchange, target: homeOf(target, requestor), user: requestor }
  const asker = incoming.impersonates ? await asOther(pipeline, asking) : asking
  return enters(pipeline, asker) ? dispatch(pipeline, await admit(pipeline, asker)) : tooMany
}

/** Takes a place until the answer is out; false: there is none. */
function enters({ inflight }: Pipeline, { exchange, target: { info }, user }: Asking): boolean {
  if (isLongRunning(info)) return true
  const leave = inflight.enter(user, info)
  if (leave !== undefined) exchange.finally(leave)
  return leave !== undefined
}

/** Metrics are of all logical clusters together, never of one (chapter 30, section 2.1). */
const isOfShard = ({ workspace, info, ...target }: Target | Unresolved): boolean =>
  info.path === '/metrics' &&
  workspace?.path.pattern === '' &&
  'cluster' in target &&
  target.cluster !== undefined

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

async function admit(pipeline: Pipeline, asking: Asking): Promise<Admitted> {
  const { exchange, target } = asking
  const { workspace } = target
  if (!pipeline.views.isReady(workspace.name)) {
    throw serviceUnavailable(`${workspace.name} virtual workspace controllers are not started`, 1)
  }
  refuseBareUrl(asking)
  const { user } = asking
  const asker = { user, info: target.info, lifetime: exchange.lifetime }
  const ctx = contextOf(asking, await locate(pipeline.backend, target.cluster ?? shardCluster, asker))
  await authorize(ctx, workspace, pipeline.backend.authorizer)
  const refusal = pipeline.backend.refusal?.(ctx.cluster, ctx.info)
  if (refusal !== undefined) throw refusal
  await workspace.guard?.(ctx)
  return { ctx, workspace, exchange }
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
