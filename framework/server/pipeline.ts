import { type Awaitable, after } from '../async/awaitable.ts'
import { forbiddenTo } from '../contract/authorizer.ts'
import { contextWith, createContext, type RequestContext, type TokenCipher } from '../contract/context.ts'
import type { PluginSupervisor } from '../contract/pluginsupervisor.ts'
import type { Forwarding } from '../contract/upstream.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { Fairness } from '../fairness/fairness.ts'
import type { Refused, Seat } from '../fairness/seats.ts'
import { notServed, serviceUnavailable } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { Authenticator } from '../request/authenticator.ts'
import { timeoutIn } from '../request/duration.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { accountOf, isPrivileged, type UserInfo } from '../request/user.ts'
import { tooMany } from '../responses/failure.ts'
import { text } from '../responses/textanswer.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { authorize, refuseBareUrl, userOf } from './access.ts'
import { type Authorized, dispatch, type Routed, type Sources } from './dispatch.ts'
import { impersonated } from './impersonated.ts'
import { locate } from './locate.ts'
import { answerMounted, type Mounted, type MountOptions } from './mounts.ts'
import type { RunningViews } from './readiness.ts'
import {
  homeOf,
  isShardMetrics,
  type MountedTarget,
  mountedTarget,
  namedCluster,
  type Routes,
  shardCluster,
  type Target,
  type Unresolved,
} from './routes.ts'
import type { Exchange, Handler } from './serve.ts'
import type { WatchReviews } from './watchreviews.ts'

/** The dependencies of the request pipeline. */
export interface Pipeline extends Sources, MountOptions {
  readonly authenticator: Authenticator
  readonly authorizesHealth?: boolean
  readonly routes: Routes
  readonly views: RunningViews
  /** Milliseconds. */
  readonly requestTimeout: number
  readonly fairness: Fairness
  /** Encrypts continue tokens. */
  readonly tokens: TokenCipher
  /** Ends watches and tunnels whose users may not open them any more. */
  readonly reviews: Pick<WatchReviews<Routed | Mounted>, 'follow'>
  /** Absent: requests are not traced. */
  readonly tracing?: Pick<Tracing, 'step'>
}

/** Does a step, which is a span of the trace. */
const step = <T>({ tracing }: Pipeline, name: string, work: () => Awaitable<T>): Awaitable<T> =>
  tracing === undefined ? work() : tracing.step(name, work)

/**
 * Answers one request. The steps, in order: wait for changes of other servers, route, deadline, authentication,
 * impersonation, limits, authorization, dispatch. Each step adds what it found to the exchange; a failed step throws a
 * `StatusError`. A step that finds its answer in memory returns it without a promise.
 */
export function answerRequest(pipeline: Pipeline, exchange: Exchange): Awaitable<Answer | Forwarding> {
  const waiting = caughtUp(pipeline, exchange)
  return waiting === undefined
    ? answerCurrent(pipeline, exchange)
    : waiting.then(() => answerCurrent(pipeline, exchange))
}

/** Requests with `resourceVersion=0` accept any state. */
function caughtUp({ backend }: Pipeline, { incoming, lifetime }: Exchange): Promise<void> | undefined {
  if (backend.caughtUp === undefined || incoming.query.get('resourceVersion') === '0') return undefined
  return backend.caughtUp(lifetime.signal)
}

function answerCurrent(pipeline: Pipeline, exchange: Exchange): Awaitable<Answer | Forwarding> {
  const { incoming } = exchange
  const mounted = mountedTarget(pipeline.backend, incoming)
  if (mounted !== undefined) return answerMount(pipeline, exchange, mounted)
  const target = pipeline.routes(incoming)
  if (isShardMetrics(target)) return text(501, 'shard-level endpoint not available at workspace scope\n')
  if (target.workspace !== undefined && target.workspace.name !== '')
    exchange.measured.through(target.workspace.name)
  limitTime(pipeline, exchange, target.info)
  const cluster = namedCluster(pipeline.backend, target)
  exchange.audit?.about(target.info, cluster, target.workspace?.path.pattern === '')
  const place = { cluster, path: target.info.path }
  const authenticated = step(pipeline, 'authenticate', () => userOf(pipeline.authenticator, exchange, place))
  return after(authenticated, user => answerTarget(pipeline, exchange, target, user))
}

/** Answers a request for a mounted workspace. */
async function answerMount(pipeline: Pipeline, exchange: Exchange, target: MountedTarget) {
  const user = await userOf(pipeline.authenticator, exchange)
  recordUser(exchange, user)
  const inside: Handler = next => answerRequest(pipeline, next)
  const answer = await answerMounted(pipeline, exchange, { target, user }, inside)
  // A request that has gone on within this server has a seat already.
  if (!('forward' in answer) || exchange.lifetime.holding !== undefined) return answer
  pipeline.reviews.follow({ ...exchange, user, mount: target.place })
  const seat = await seatOf(pipeline, 'watching', { ...exchange, user }, target.path)
  if (seat !== undefined && 'reason' in seat) return tooMany(seat)
  if (seat !== undefined) exchange.lifetime.hold(seat)
  return answer
}

function recordUser(exchange: Exchange, user: UserInfo): void {
  exchange.record.annotate('user', user.name)
  exchange.audit?.by(user)
  exchange.user = user
}

/** Answers a request of an authenticated user to a view. */
function answerTarget(
  pipeline: Pipeline,
  exchange: Exchange,
  target: Target | Unresolved,
  user: UserInfo,
): Awaitable<Answer | Forwarding> {
  recordUser(exchange, user)
  if (target.workspace === undefined) throw unresolved(user, target)
  exchange.target = homeOf(target, user)
  const routed = exchange as Routed
  const asked = exchange.incoming.impersonates
    ? step(pipeline, 'impersonate', () => impersonated(pipeline.backend, routed))
    : routed
  return after(asked, known =>
    after(
      step(pipeline, 'wait for a seat', () => enter(pipeline, known)),
      seat => begin(pipeline, known, seat),
    ),
  )
}

/** Takes a seat among the requests in progress; undefined for requests without a limit. */
function enter(pipeline: Pipeline, exchange: Routed): Awaitable<Seat | Refused | undefined> {
  const { info, place } = exchange.target
  const short = readingVerbs.has(info.verb) ? 'reading' : 'mutating'
  return seatOf(pipeline, isLongRunning(info) ? 'watching' : short, exchange, place)
}

function seatOf(
  { fairness }: Pipeline,
  kind: 'reading' | 'mutating' | 'watching',
  { lifetime, user, requestor }: Pick<Routed, 'lifetime' | 'user' | 'requestor'>,
  workspace: string,
): Awaitable<Seat | Refused | undefined> {
  if (isPrivileged(user)) return undefined
  const isSystem = user.groups.some(group => fairness.systemGroups.has(group))
  return fairness[kind].enter({ user: accountOf(user, requestor), workspace, isSystem, lifetime })
}

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

/** Begins to answer a request that has a seat until its response is complete, or needs none. */
function begin(pipeline: Pipeline, exchange: Routed, seat?: Seat | Refused): Awaitable<Answer | Forwarding> {
  if (seat === undefined) return answerSeated(pipeline, exchange)
  if ('reason' in seat) return tooMany(seat)
  exchange.lifetime.hold(seat)
  if (!readingVerbs.has(exchange.target.info.verb)) readWithoutSeat(exchange, seat)
  const turn = pipeline.fairness.beginnings.begin(seat.flow.user)?.then(() => exchange.measured.works())
  const answer = after(turn, () => answerSeated(pipeline, exchange))
  if (answer instanceof Promise) void seat.keepFor(answer)
  return answer
}

function answerSeated(pipeline: Pipeline, exchange: Routed): Awaitable<Answer | Forwarding> {
  const { forwarding } = exchange.target.workspace.plugin ?? {}
  if (forwarding === undefined) return answerItself(pipeline, exchange)
  // The process of a view authorizes its requests itself.
  liftDeadline(exchange)
  if (isLongRunning(exchange.target.info)) pipeline.reviews.follow(exchange)
  return isolated(pipeline, exchange, forwarding)
}

function answerItself(pipeline: Pipeline, exchange: Routed): Awaitable<Answer | Forwarding> {
  const { info } = exchange.target
  if (isLongRunning(info)) pipeline.reviews.follow(exchange)
  const admission = step(pipeline, 'authorize', () => admitted(pipeline, exchange))
  return after(admission, authorized => {
    liftDeadline(authorized)
    return step(pipeline, info.verb, () => dispatch(pipeline, authorized))
  })
}

function liftDeadline({ target, lifetime }: Routed): void {
  if (isLongRunning(target.info)) lifetime.limit(undefined)
}

/** Passes a request on to the process of its view. */
function isolated(
  { views }: Pipeline,
  { incoming, target, user, requestor = user, measured }: Routed,
  forwarding: Required<PluginSupervisor>['forwarding'],
): Forwarding {
  requireReady(views, target.workspace)
  if (target.info.isResource) measured.serves(target.info)
  return forwarding({ incoming, user: requestor, sent: chunk => measured.sent(chunk) })
}

function requireReady({ starting }: RunningViews, { name }: VirtualWorkspace): void {
  if (starting.has(name)) throw serviceUnavailable(`${name} virtual workspace controllers are not started`, 1)
}

/** A request whose body has not arrived keeps no seat. */
function readWithoutSeat(exchange: Routed, seat: Seat): void {
  const { incoming } = exchange
  exchange.incoming = { ...incoming, body: limit => seat.without(incoming.body(limit)) }
}

/** Sets the deadline, which requests may shorten; watches have none when they begin (rules.md 1.39 to 1.42). */
function limitTime(
  { requestTimeout, stopping }: Pipeline,
  { incoming, lifetime }: Exchange,
  info: RequestInfo,
): void {
  const isLong = isLongRunning(info)
  if (isLong) lifetime.follow(stopping, 'shutdown')
  if (isLong || incoming.search === '') return
  const asked = timeoutIn(incoming.query)
  if (asked > 0) lifetime.limit(Math.min(asked, requestTimeout))
}

const longRunning = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

const isLongRunning = (info: RequestInfo): boolean =>
  info.isResource && (info.verb === 'watch' || longRunning.has(info.subresource))

/** 404 for privileged users, 403 for others (kcp pkg/virtual/framework/rootapiserver). */
const unresolved = (user: UserInfo, { info, hint }: Unresolved): Error =>
  isPrivileged(user)
    ? notServed(hint)
    : forbiddenTo(user, info, `Path not resolved to a valid virtual workspace${hint}`)

/** Throws 503 unless the view is ready and not sick, and 403 unless the user may make the request; adds the context. */
export function admitted(pipeline: Omit<Pipeline, 'reviews'>, exchange: Routed): Awaitable<Authorized> {
  const { backend, views } = pipeline
  const { workspace, cluster, scope, info } = exchange.target
  requireReady(views, workspace)
  refuseBareUrl(exchange)
  const { user, lifetime, incoming } = exchange
  const { query } = incoming
  const located = scope ?? locate(backend, cluster ?? shardCluster, { user, info, lifetime })
  return after(located, found => {
    const partial = found === '*' ? undefined : backend.refusalToAll?.(found, { info, user }, query)
    if (partial !== undefined) throw partial
    const sick = workspace.plugin?.refusal({ cluster: found, user })
    if (sick !== undefined) throw sick
    const ctx = contextOf(pipeline, exchange, found)
    exchange.ctx = ctx
    return after(authorize(ctx, workspace, backend.authorizer), () => {
      const refusal = found === '*' ? undefined : backend.refusal?.(found, ctx, query)
      if (refusal !== undefined) throw refusal
      return after(workspace.guard?.(ctx), () => exchange as Authorized)
    })
  })
}

function contextOf(
  { tokens }: Pick<Pipeline, 'tokens'>,
  exchange: Routed,
  cluster: ClusterScope,
): RequestContext {
  const { incoming, lifetime, record, target, user, requestor } = exchange
  const { workspace, params, info } = target
  const plain = createContext({
    workspace: workspace.name,
    params,
    cluster,
    info,
    user,
    requestor,
    actAs: user,
    hops: incoming.hops,
    deepReview: incoming.headers['x-kcp-internal-deep-subjectaccessreview'] === 'true',
    record,
    tokens,
    lifetime,
  })
  const ctx = workspace.plugin?.context(plain) ?? plain
  return workspace.actAs === undefined ? ctx : contextWith(ctx, { actAs: workspace.actAs(ctx) })
}
