import { forbiddenTo } from '../contract/authorizer.ts'
import type { Backend } from '../contract/backend.ts'
import type { Forwarding, Outbound } from '../contract/upstream.ts'
import type { ClosedPlace, MountPlace } from '../contract/workspacetree.ts'
import { forbidden, StatusError, serviceUnavailable } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import { type Incoming, refuseLoop } from '../request/incoming.ts'
import { pathPattern } from '../request/path.ts'
import { parseRequestInfo, type RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { anonymous, type UserInfo } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { failureAnswer } from '../responses/failure.ts'
import { negotiateError, parseAccept } from '../responses/negotiation.ts'
import { text } from '../responses/textanswer.ts'
import type { MountedTarget } from './routes.ts'
import type { Exchange, Handler } from './serve.ts'

/** What the server needs to answer requests for mounted workspaces. */
export interface MountOptions {
  readonly backend: Backend
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** The URLs of this server, without a trailing slash: a mount of such a URL is answered here. */
  readonly ownUrls?: readonly string[]
  /** Forwards requests to mounted servers; without it such mounts are not served. */
  readonly outbound?: Outbound
}

/** A request of a user that goes on at another server. */
export interface Mounted extends Exchange {
  user: UserInfo
  readonly mount: MountedTarget['place']
}

/**
 * Answers a request for a mounted workspace. Users with the verb `access` in the parent workspace are redirected or their
 * requests forwarded; a mount of a URL of this server is answered by `answer`, with the new path. Throws 403 for other
 * users, and 503 for mounts that lead in a circle.
 */
export async function answerMounted(
  options: MountOptions,
  exchange: Exchange,
  { target, user }: { readonly target: MountedTarget; readonly user: UserInfo },
  answer: Handler,
): Promise<Answer | Forwarding> {
  const { incoming } = exchange
  const { place, rest } = target
  if (!('parent' in place)) {
    // Anonymous users must not learn which workspaces are unavailable.
    if (user.name === anonymous.name) throw forbiddenTo(user, infoOf(incoming), 'access denied')
    const mayRead = (cluster: ClusterName) => mayEnter(options, exchange, user, cluster)
    return unavailableAnswer(exchange, place, mayRead)
  }
  await requireAccess(options, exchange, user, place)
  if (place.kind === 'Redirect')
    return redirectAnswer(incoming, `${place.url}${place.rest}${rest}${incoming.search}`)
  refuseLoop(incoming)
  exchange.lifetime.follow(place.changed, 'replaced')
  const inside = insidePath(options.ownUrls ?? [], place.url)
  if (inside === undefined) return forwarded(options, exchange, place, target)
  const next = { ...incoming, path: inside + rest, hops: incoming.hops + 1 }
  return answer({ ...exchange, incoming: next })
}

/** Forwards a request to the server of a mount. */
function forwarded(
  { outbound, stopping }: MountOptions,
  { incoming, lifetime }: Exchange,
  { url, identity }: MountPlace,
  { path, rest }: MountedTarget,
): Forwarding {
  // The permission to impersonate on this server does not apply to the other server.
  if (incoming.impersonates) throw forbidden(undefined, 'impersonation is not allowed for the requestor')
  if (outbound === undefined) throw serviceUnavailable('this server does not forward requests to mounts')
  lifetime.limit(undefined)
  lifetime.follow(stopping, 'shutdown')
  return outbound.forwarding({
    incoming,
    endpoint: { url },
    identity,
    path: rest,
    seenAs: `/clusters/${path}`,
  })
}

/**
 * The answer for an unavailable workspace: kcp's text, or a Status for clients that accept JSON. Without `Retry-After`, by which
 * kubectl would try again for half a minute. Discovery of kubectl prints no message of a 503, but warnings.
 */
export async function unavailableAnswer(
  { incoming, record }: Exchange,
  { cause }: Pick<ClosedPlace, 'cause'> = {},
  mayRead: (cluster: ClusterName) => Promise<boolean> = async () => false,
): Promise<Answer> {
  const isTold = cause !== undefined && (await mayRead(cause.parent))
  const message = isTold ? `Not available ${cause.message}` : 'Not available.'
  if (isTold) record.warn(message)
  const wantsStatus = parseAccept(incoming.headers.accept).some(({ type }) => type === 'application/json')
  return wantsStatus
    ? failureAnswer(serviceUnavailable(message), incoming, record.log)
    : text(503, 'Not available.')
}

/** Throws 403 unless the user has the verb `access` in the workspace that has the mount. */
async function requireAccess(
  options: MountOptions,
  exchange: Exchange,
  user: UserInfo,
  { parent }: MountPlace,
): Promise<void> {
  if (!(await mayEnter(options, exchange, user, parent)))
    throw forbiddenTo(user, infoOf(exchange.incoming), 'access denied')
}

/** Whether the user has the verb `access` in a logical cluster. */
export async function mayEnter(
  { backend }: Pick<MountOptions, 'backend'>,
  { lifetime }: Pick<Exchange, 'lifetime'>,
  user: UserInfo,
  cluster: ClusterName,
): Promise<boolean> {
  const action = { verb: 'access', cluster, path: '/' }
  const { effect } = await backend.authorizer.authorize(user, action, lifetime.signal)
  return effect === 'allow'
}

const plain = pathPattern('')

/** The request info of a refused request, for the error's text; a URL that cannot be parsed is a non-resource path. */
export function infoOf(incoming: Incoming): RequestInfo {
  const path = plain.parse(incoming.path)?.rest ?? incoming.path
  try {
    return parseRequestInfo({ ...incoming, path })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { isResource: false, verb: incoming.method.toLowerCase(), path }
  }
}

/** Redirects a client to the URL of a workspace, which tenants write: it may have characters that a header must not have. */
export function redirectAnswer(incoming: Incoming, location: string): Answer {
  const { href } = new URL(location)
  const { status } = new StatusError(307, 'Redirect', `the workspace is at ${href}`)
  return {
    ...documentAnswer(status, negotiateError(incoming), 307),
    headers: { Location: href, 'Cache-Control': 'no-store' },
  }
}

/** The path of a URL of this server, which answers it for the same user; undefined for other servers. */
export function insidePath(ownUrls: readonly string[], url: string): string | undefined {
  const own = ownUrls.find(each => url.startsWith(`${each}/`))
  return own === undefined ? undefined : url.slice(own.length)
}
