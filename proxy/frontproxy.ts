import { isDeepStrictEqual } from 'node:util'
import type { Awaitable } from '../framework/async/awaitable.ts'
import type { Forwarding } from '../framework/contract/upstream.ts'
import type { Fairness } from '../framework/fairness/fairness.ts'
import type { Refused, Seat, Seats } from '../framework/fairness/seats.ts'
import { serviceUnavailable, unauthorized } from '../framework/meta/errors.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { isStream } from '../framework/net/forward.ts'
import type { Authenticator } from '../framework/request/authenticator.ts'
import { type Incoming, refuseLoop } from '../framework/request/incoming.ts'
import type { Answer } from '../framework/request/response.ts'
import {
  accountOf,
  anonymous,
  clusterNameKey,
  isServiceAccount,
  type UserInfo,
} from '../framework/request/user.ts'
import { tooMany } from '../framework/responses/failure.ts'
import { text } from '../framework/responses/textanswer.ts'
import { userOf } from '../framework/server/access.ts'
import { unavailableAnswer } from '../framework/server/mounts.ts'
import type { Exchange, Handler } from '../framework/server/serve.ts'
import { type ReviewedWatch, WatchReviews } from '../framework/server/watchreviews.ts'
import { type AllShardsQuery, allShards, isQueryOfAll } from './allshards.ts'
import { type Match, treePath } from './mapping.ts'
import { isMappedView, type PersonalView, personalView } from './personalviews.ts'
import type { ProxyRoutes } from './routes.ts'
import type { Location, ShardIndex } from './shardindex.ts'
import { withContext } from './tracecontext.ts'
import { intoTree, locate, mayEnter, type ProxiedRequest, placeOf, type TreeOptions } from './tree.ts'

export interface FrontProxyOptions extends TreeOptions, Pick<AllShardsQuery, 'slices' | 'documents'> {
  /** The current content of the mapping file. */
  readonly routes: () => ProxyRoutes
  readonly authenticator: Authenticator
  /** Selects the groups that shards get. */
  readonly groups: (groups: readonly string[]) => readonly string[]
  /** The seats of requests for a shard, or for other servers. */
  readonly fairness: (server: string) => Fairness
  /** Aborts when the proxy stops. */
  readonly stopping: AbortSignal
  /** Headers with the context of the trace, which shards get. Absent: requests are not traced. */
  readonly traceHeaders?: () => Readonly<Record<string, string>>
}

/** Serves the workspaces of all shards: authenticates, finds the shard, forwards (kcp `pkg/proxy`). */
export function frontProxy(options: FrontProxyOptions): Handler {
  const answer = (passing: ProxiedRequest): Promise<Answer | Forwarding> => {
    const { incoming } = passing.exchange
    refuseLoop(incoming)
    const match = passing.routes.match(incoming.path)
    if (match === undefined) return Promise.resolve(text(404, '404 page not found\n'))
    if (match.mapping.path === treePath) return intoTree(options, passing, match, answer)
    if (isQueryOfAll(incoming) && !isMappedView(match) && options.index.shards().all.length > 1)
      return Promise.resolve(toAllShards(options, passing))
    const personal = personalView(incoming, match)
    if (personal !== undefined) return Promise.resolve(toPersonalView(options, passing, personal))
    return Promise.resolve(toBackend(options, passing, match))
  }
  const reviews = new WatchReviews<Streamed>(mayGoOn.bind(undefined, options))
  return async exchange => {
    const { lifetime, incoming } = exchange
    lifetime.limit(undefined)
    lifetime.follow(options.stopping, 'shutdown')
    const routes = options.routes()
    const user = await authenticate(options, exchange, routes)
    const home = toHomeCluster(exchange, user, routes)
    const passing = { exchange: withContext(options.traceHeaders, home), user, routes }
    const fairness = options.fairness(serverOf(options.index, passing))
    const seat = await enter(fairness, passing)
    if ('reason' in seat) return tooMany(seat)
    lifetime.hold(seat)
    // Requests that are canceled meanwhile open no connection to a shard.
    await fairness.beginnings.begin(seat.flow.user)
    exchange.measured.works()
    if (isStreamed(incoming) || 'upgrade' in incoming.headers) reviews.follow({ lifetime, exchange, user })
    return answer(passing)
  }
}

type Streamed = ReviewedWatch & Pick<ProxiedRequest, 'exchange' | 'user'>

/** Whether the user would be admitted again. Throws 401 for invalid credentials. Shards review what the user may do there. */
async function mayGoOn(options: FrontProxyOptions, { exchange, user }: Streamed): Promise<boolean> {
  const routes = options.routes()
  if (!isDeepStrictEqual(await authenticate(options, { ...exchange }, routes), user)) return false
  const { mapping, cluster = '' } = routes.match(exchange.incoming.path) ?? {}
  const found = mapping?.path === treePath && placeOf(options.index, cluster)
  return !found || !('parent' in found) || mayEnter(options, { exchange, user }, found.parent)
}

const isStreamed = ({ path, search }: Incoming): boolean => isStream(path + search)

/** A query about all logical clusters is answered by all shards. */
function toAllShards(
  { index, slices, documents }: FrontProxyOptions,
  { exchange, user, routes }: ProxiedRequest,
): Forwarding {
  // Shards trust the client certificate of the tree.
  const mapping = routes.match(`${treePath}root`)?.mapping
  if (mapping === undefined) throw serviceUnavailable('the mapping file has no entry for /clusters/')
  return allShards(index.shards(), { exchange, user, routes, mapping, slices, documents })
}

/** These views of a logical cluster are on its shard. */
function toPersonalView(
  { index }: FrontProxyOptions,
  request: ProxiedRequest,
  { prefix, cluster, rest }: PersonalView,
): Promise<Answer> | Forwarding {
  const found = locate(index, request, cluster)
  const mapping = request.routes.match(treePath + cluster)?.mapping
  if (found.kind !== 'shard' || mapping === undefined) return unavailableAnswer(request.exchange)
  const path = `${prefix}${found.cluster}${rest}`
  return request.routes.forwarding({ ...request, mapping, url: found.shard.baseURL, path })
}

/** The shard of a request; for a mount '', and for another server the path of its mapping. */
function serverOf(index: ShardIndex, { exchange, routes }: ProxiedRequest): string {
  const { incoming } = exchange
  const match = routes.match(incoming.path)
  if (match === undefined) return ''
  const { cluster } = match.mapping.path === treePath ? match : (personalView(incoming, match) ?? {})
  if (cluster === undefined) return match.mapping.path
  const found = placeOf(index, cluster)
  return found?.kind === 'shard' ? found.shard.name : ''
}

/** Takes a seat until the response is complete. */
function enter(fairness: Fairness, { exchange, user, routes }: ProxiedRequest): Awaitable<Seat | Refused> {
  const { incoming, lifetime } = exchange
  const { mapping, cluster = '' } = routes.match(incoming.path) ?? {}
  return seatsFor(fairness, incoming).enter({
    user: accountOf(user),
    workspace: `${mapping?.path ?? ''}${cluster}`,
    isSystem: user.groups.some(group => fairness.systemGroups.has(group)),
    lifetime,
  })
}

function seatsFor({ reading, mutating, watching }: Fairness, incoming: Incoming): Seats {
  if (isStreamed(incoming)) return watching
  return /^(GET|HEAD|OPTIONS)$/.test(incoming.method) ? reading : mutating
}

/** Authenticates the user; some users are valid in one workspace only. Throws 401 for anonymous requests. */
async function authenticate(
  { authenticator, groups, index }: FrontProxyOptions,
  exchange: Exchange,
  routes: ProxyRoutes,
): Promise<UserInfo> {
  const { path } = exchange.incoming
  const { cluster = '' } = routes.match(path) ?? {}
  const user = await userOf(authenticator, exchange, { cluster: clusterAt(index, cluster), path })
  if (user === anonymous) throw unauthorized()
  exchange.record.annotate('user', user.name)
  exchange.user = user
  return { ...user, groups: groups(user.groups) }
}

/** The logical cluster of a path; for a mounted workspace, that of its parent. */
function clusterAt(index: ShardIndex, segment: string): ClusterName | undefined {
  const found = placeOf(index, segment)
  if (found?.kind === 'shard') return found.cluster
  return found !== undefined && 'parent' in found ? found.parent : undefined
}

/**
 * Programs in a workspace know one server only: their requests that match no mapping go to the logical cluster of
 * their service account.
 */
function toHomeCluster(exchange: Exchange, user: UserInfo, routes: ProxyRoutes): Exchange {
  const { incoming } = exchange
  const home = isServiceAccount(user.name) ? user.extra?.[clusterNameKey]?.[0] : undefined
  const match = routes.match(incoming.path)
  if (home === undefined || (match !== undefined && match.mapping.path !== '/')) return exchange
  return { ...exchange, incoming: { ...incoming, path: `${treePath}${home}${incoming.path}` } }
}

/** The response for a mapping. A logical cluster in its path must exist. */
function toBackend(
  { index }: FrontProxyOptions,
  passing: ProxiedRequest,
  { mapping, cluster }: Match,
): Promise<Answer> | Forwarding {
  const { exchange, routes } = passing
  if (cluster !== undefined) {
    const found = locate(index, passing, cluster)
    if (isClosed(found)) return unavailableAnswer(exchange)
  }
  return routes.forwarding({ ...passing, mapping, url: mapping.backend, path: exchange.incoming.path })
}

const isClosed = (location: Location): boolean => location.kind === 'unavailable' || location.kind === 'loop'
