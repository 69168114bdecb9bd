import type { Awaitable } from '../async/awaitable.ts'
import { forbiddenTo } from '../contract/authorize.ts'
import type { Backend } from '../contract/backend.ts'
import type { Forwarding, Outbound } from '../contract/upstream.ts'
import type { ClusterPlace, MountPlace, Place } from '../contract/workspacetree.ts'
import { forbidden, StatusError, serviceUnavailable } from '../meta/errors.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { Incoming } from '../request/incoming.ts'
import { isClusterName, isClusterPath, pathPattern } from '../request/path.ts'
import { parseRequestInfo, type RequestInfo } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import { anonymous, type UserInfo } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { failureAnswer } from '../responses/failure.ts'
import { negotiateError, parseAccept } from '../responses/negotiation.ts'
import { userOf } from './authenticate.ts'
import { text } from './health.ts'
import type { Exchange } from './serve.ts'

/** What requests need that lead out of the logical clusters here. */
export interface WayOut {
  readonly backend: Backend
  readonly authenticator: Authenticator
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** What clients call this server, without a trailing slash. */
  readonly publicUrl?: string
  /** The way to mounted servers; without it they are not served. */
  readonly outbound?: Outbound
}

/** A request for a workspace that no logical cluster stands behind. */
export interface Beyond {
  readonly place: Exclude<Place, ClusterPlace>
  /** The workspace, as written. */
  readonly path: string
  /** What is asked of it, percent-encoded; '' or starting with `/`. */
  readonly rest: string
}

const plain = pathPattern('')
/** The colon may be encoded. */
const ofSeveral = /^\/clusters\/[^/]*[:%]/

/** Does this request lead out of the logical clusters here? Only paths of several workspaces can. */
export function beyondOf({ backend }: Pick<WayOut, 'backend'>, { path }: Incoming): Beyond | undefined {
  // Most requests name a logical cluster, which is seen at one look.
  const found = ofSeveral.test(path) ? plain.parse(path) : undefined
  if (found === undefined || isClusterName(found.cluster) || !isClusterPath(found.cluster)) return undefined
  const place = backend.place?.(found.cluster)
  if (place === undefined || place.kind === 'cluster') return undefined
  return { place, path: found.cluster, rest: found.rest === '/' ? '' : found.rest }
}

/** Answers in place of the server of a mount, once more: the request as it is now. */
export type Again = (exchange: Exchange) => Awaitable<Answer | Forwarding>

/**
 * Answers a request for a mounted workspace: whoever may enter its parent is passed on or sent elsewhere (chapter 30,
 * section 4.7.3). Throws 403 for others, and for mounts that lead in circles 503.
 */
export async function answerBeyond(
  way: WayOut,
  exchange: Exchange,
  { place, path, rest }: Beyond,
  again: Again,
): Promise<Answer | Forwarding> {
  const { incoming } = exchange
  const user = await userOf(way.authenticator, exchange)
  exchange.record.annotate('user', user.name)
  if (!('parent' in place)) {
    // Nobody without credentials learns which workspaces are out of order.
    if (user.name === anonymous.name) throw forbiddenTo(user, infoOf(incoming), 'access denied')
    return closedAnswer(exchange)
  }
  await enter(way, exchange, user, place)
  if (place.kind === 'Redirect')
    return redirectAnswer(incoming, `${place.url}${place.rest}${rest}${incoming.search}`)
  if (incoming.hops >= mostHops) throw serviceUnavailable('Not available: mounts lead in a circle.')
  exchange.lifetime.follow(place.changed, 'replaced')
  const inside = insidePath(way.publicUrl, place.url)
  if (inside !== undefined) {
    const next = { ...incoming, path: inside + rest, hops: incoming.hops + 1 }
    return again({ ...exchange, incoming: next })
  }
  // Acting for somebody else would need the rights of this place to mean something at the other.
  if (incoming.impersonates) throw forbidden(undefined, 'impersonation is not allowed for the requestor')
  if (way.outbound === undefined) throw serviceUnavailable('this server passes no requests on')
  exchange.lifetime.limit(undefined)
  exchange.lifetime.follow(way.stopping, 'shutdown')
  const endpoint = { url: place.url }
  return way.outbound.forwarding({ incoming, endpoint, path: rest, seenAs: `/clusters/${path}` })
}

/** A request that has been passed on so often is going in circles. */
export const mostHops = 4

/** What is answered for a workspace that is out of order: kcp's text, or for clients that can read one a Status. */
export function closedAnswer({ incoming, record }: Exchange): Answer {
  const wantsStatus = parseAccept(incoming.headers.accept).some(({ type }) => type === 'application/json')
  const unavailable = serviceUnavailable('Not available.', 1)
  return wantsStatus ? failureAnswer(unavailable, incoming, record.log) : text(503, 'Not available.')
}

/** Who may enter a workspace may pass its mounts; what the other side allows is its own business. */
async function enter(
  { backend }: WayOut,
  { incoming, lifetime }: Exchange,
  user: UserInfo,
  { parent }: MountPlace,
): Promise<void> {
  const action = { verb: 'access', cluster: parent, path: '/' }
  const decision = await backend.authorizer.authorize(user, action, lifetime.signal)
  if (decision.effect !== 'allow') throw forbiddenTo(user, infoOf(incoming), 'access denied')
}

/** What a request for a workspace asks, for the text of a refusal; what is no Kubernetes request is a path. */
export function infoOf(incoming: Incoming): RequestInfo {
  const path = plain.parse(incoming.path)?.rest ?? incoming.path
  try {
    return parseRequestInfo({ ...incoming, path })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { isResource: false, verb: incoming.method.toLowerCase(), path }
  }
}

/** Sends a client to where a workspace really is. */
export function redirectAnswer(incoming: Incoming, location: string): Answer {
  const message = `the workspace is at ${location}`
  const { status } = new StatusError(307, 'Redirect', message)
  return {
    ...documentAnswer(status, negotiateError(incoming), 307),
    headers: { Location: location, 'Cache-Control': 'no-store' },
  }
}

/** The path of a URL of this very server: it is answered here, and the caller is who it is. */
export function insidePath(publicUrl: string | undefined, url: string): string | undefined {
  if (publicUrl === undefined || !url.startsWith(`${publicUrl}/`)) return undefined
  return url.slice(publicUrl.length)
}
