import { forbiddenTo } from '../framework/contract/authorizer.ts'
import type { Forwarding, Outbound } from '../framework/contract/upstream.ts'
import type { ClusterPlace, Place } from '../framework/contract/workspacetree.ts'
import { serviceUnavailable } from '../framework/meta/errors.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { isClusterPath } from '../framework/request/path.ts'
import type { Answer } from '../framework/request/response.ts'
import { decodeSegment } from '../framework/request/segments.ts'
import type { UserInfo } from '../framework/request/user.ts'
import { infoOf, insidePath, redirectAnswer, unavailableAnswer } from '../framework/server/mounts.ts'
import type { Exchange } from '../framework/server/serve.ts'
import type { Reviewer } from './access.ts'
import { type Mapping, type Match, treePath } from './mapping.ts'
import type { ProxyMeasures } from './measures.ts'
import type { ProxyRoutes } from './routes.ts'
import type { Location, ShardIndex } from './shardindex.ts'

/** The dependencies of requests below `/clusters/`. */
export interface TreeOptions {
  readonly index: ShardIndex
  /** Authorizes requests for mounts. Other requests are authorized by their shard. */
  readonly review: Reviewer
  readonly outbound: Outbound
  readonly measures: ProxyMeasures
  /** The URL under which clients reach this proxy, without a trailing slash. */
  readonly publicUrl: string
}

/** A request with its authenticated user. */
export interface ProxiedRequest {
  readonly exchange: Exchange
  readonly user: UserInfo
  readonly routes: ProxyRoutes
}

/** Where a segment of a path leads. */
export function placeOf(index: ShardIndex, segment: string): Location | undefined {
  const path = decodeSegment(segment)
  return path !== undefined && isClusterPath(path) ? index.find(path) : undefined
}

/** Throws 403 for unknown paths, with the message for forbidden ones: the response must not tell which paths exist. */
export function locate(index: ShardIndex, { exchange, user }: ProxiedRequest, segment: string): Location {
  const found = placeOf(index, segment)
  if (found !== undefined) return found
  // It may be on a shard that is not indexed yet.
  if (!index.isReady()) throw serviceUnavailable('the workspaces are not indexed yet, please try again', 1)
  throw forbiddenTo(user, infoOf(exchange.incoming), 'workspace access not permitted')
}

type Again = (passing: ProxiedRequest) => Promise<Answer | Forwarding>

/** The response below `/clusters/`: of the shard of a logical cluster, or of a mount. Throws what `locate` throws. */
export async function intoTree(
  options: TreeOptions,
  passing: ProxiedRequest,
  { mapping, cluster = '' }: Match,
  again: Again,
): Promise<Answer | Forwarding> {
  const { exchange } = passing
  const found = locate(options.index, passing, cluster)
  const rest = exchange.incoming.path.slice(treePath.length + cluster.length).replace(/^\/$/, '')
  if (found.kind === 'shard') {
    const { shard } = found
    const path = `${treePath}${found.cluster}${rest}`
    const observer = options.measures.observerOf(shard.name)
    return passing.routes.forwarding({ ...passing, mapping, url: shard.baseURL, path, observer })
  }
  options.measures.mounted(found.kind)
  if (!('parent' in found))
    return unavailableAnswer(exchange, found, cluster => mayEnter(options, passing, cluster))
  return throughMount(options, { ...passing, mapping, rest, seenAs: `${treePath}${cluster}` }, found, again)
}

/** Whether the user has the verb `access` in a logical cluster. */
export const mayEnter = (
  { review }: Pick<TreeOptions, 'review'>,
  { exchange, user }: Pick<ProxiedRequest, 'exchange' | 'user'>,
  cluster: ClusterName,
): Promise<boolean> => review(user, { cluster, path: '/', verb: 'access' }, exchange.lifetime.signal)

type Mounted = Extract<Exclude<Place, ClusterPlace>, { parent: string }>

interface Mounting extends ProxiedRequest {
  /** Of the tree: shards trust its client certificate. */
  readonly mapping: Mapping
  readonly rest: string
  readonly seenAs: string
}

async function throughMount(
  options: TreeOptions,
  { exchange, user, routes, mapping, rest, seenAs }: Mounting,
  place: Mounted,
  again: Again,
): Promise<Answer | Forwarding> {
  const { incoming, lifetime } = exchange
  if (!(await mayEnter(options, { exchange, user }, place.parent)))
    throw forbiddenTo(user, infoOf(incoming), 'workspace access not permitted')
  if (place.kind === 'Redirect')
    return redirectAnswer(incoming, `${place.url}${place.rest}${rest}${incoming.search}`)
  lifetime.follow(place.changed, 'replaced')
  const hops = incoming.hops + 1
  const inside = insidePath([options.publicUrl, ...options.index.ownUrls()], place.url)
  if (inside !== undefined)
    return again({
      exchange: { ...exchange, incoming: { ...incoming, path: inside + rest, hops } },
      user,
      routes,
    })
  // A view of a shard: the shard accepts the user's identity, which stays within the installation.
  if (options.index.shardAt(place.url) !== undefined)
    return routes.forwarding({
      exchange: { ...exchange, incoming: { ...incoming, hops } },
      user,
      mapping,
      url: place.url,
      path: rest,
    })
  const { url, identity } = place
  return options.outbound.forwarding({ incoming, endpoint: { url }, identity, path: rest, seenAs })
}
