import type { OutgoingHttpHeaders } from 'node:http'
import type { ClientSide, Forwarding } from '../framework/contract/upstream.ts'
import {
  createClient,
  type HttpClient,
  mostHeadOfShard,
  type OutgoingResponse,
} from '../framework/net/client.ts'
import { checkPath, type ForwardObserver, forward } from '../framework/net/forward.ts'
import {
  assertsIdentity,
  type HeaderMap,
  identityFields,
  passedOn,
  withoutTokenProtocol,
} from '../framework/net/headers.ts'
import { forwardUpgrade } from '../framework/net/upgrade.ts'
import type { IsIdentity } from '../framework/request/incoming.ts'
import type { UserInfo } from '../framework/request/user.ts'
import type { Exchange } from '../framework/server/serve.ts'
import { type Mapping, type MappingTls, type Match, matcherOf } from './mapping.ts'

/** A request for a server of the mapping file. */
export interface RoutedRequest {
  readonly mapping: Mapping
  readonly exchange: Exchange
  readonly user: UserInfo
  /** `https://host:port`, optionally with a path. */
  readonly url: string
  /** As sent, percent-encoded, without the query. */
  readonly path: string
  readonly observer?: ForwardObserver
}

/** A GET that this proxy makes of the request of a client. */
export interface AskedRequest extends RoutedRequest {
  /** With its `?`. */
  readonly search: string
  readonly accept: string
  readonly signal: AbortSignal
}

/** The servers of a mapping file. They accept the identity headers of this proxy. */
export interface ProxyRoutes {
  match(path: string): Match | undefined
  forwarding(request: RoutedRequest): Forwarding
  /** Sends a GET for a request of a client. Rejects with the error of the connection, or with the reason of the signal. */
  ask(request: AskedRequest, client: ClientSide): Promise<OutgoingResponse>
  /** Running requests complete; new ones are not forwarded. */
  close(): Promise<void>
}

/** A mapping with the content of its files. */
export interface Route {
  readonly mapping: Mapping
  readonly tls: MappingTls
}

interface Connections {
  readonly tls: MappingTls
  readonly client: HttpClient
}

/**
 * Each mapping has its own connections: its client certificate is an identity. `isIdentity`: the lower-case names of the
 * headers from which this proxy reads identities.
 */
export function openRoutes(routes: readonly Route[], isIdentity: IsIdentity): ProxyRoutes {
  const all = new Map(routes.map(({ mapping, tls }) => [mapping, connections(tls)]))
  const connectionsOf = (mapping: Mapping): Connections => {
    const found = all.get(mapping)
    if (found === undefined) throw new TypeError(`there are no connections for ${mapping.path}`)
    return found
  }
  return {
    match: matcherOf([...all.keys()]),
    forwarding: request => forwardingTo(request, connectionsOf(request.mapping), isIdentity),
    ask: (request, client) => {
      const { origin, path } = targetOf(request)
      const headers = { ...headersOf(request, client, isRead(isIdentity)), accept: request.accept }
      const { search, signal, mapping } = request
      return connectionsOf(mapping).client.request({ origin, path: path + search, headers, signal })
    },
    close: async () => void (await Promise.all([...all.values()].map(({ client }) => client.close()))),
  }
}

const connections = (tls: MappingTls): Connections => ({
  tls,
  client: createClient({ tls, mostHead: mostHeadOfShard }),
})

function forwardingTo(request: RoutedRequest, connections: Connections, isIdentity: IsIdentity): Forwarding {
  const { origin, path } = targetOf(request)
  const { observer, exchange } = request
  const sent = { origin, target: path + exchange.incoming.search, answered, ...(observer && { observer }) }
  return {
    async forward(client) {
      const headers = headersOf(request, client, isIdentity)
      if (client.upgrade !== undefined)
        return forwardUpgrade({ ...sent, headers, connect: { ...connections.tls } }, client)
      const dispatcher = await connections.client.dispatcher()
      return forward({ ...sent, headers, dispatcher }, client)
    },
  }
}

function targetOf({ url, path }: RoutedRequest): { readonly origin: string; readonly path: string } {
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/\/$/, '') + checkPath(path) }
}

/** This proxy reads the response itself: in its own format, and not compressed. */
const isRead =
  (isIdentity: IsIdentity): IsIdentity =>
  name =>
    isIdentity(name) ||
    name === 'accept' ||
    name === 'accept-encoding' ||
    name.startsWith('content-') ||
    name.startsWith('if-')

const answered = (headers: Parameters<typeof passedOn>[0]): OutgoingHttpHeaders =>
  passedOn(headers, () => false) as OutgoingHttpHeaders

/** Headers that only the proxy sets. */
const own = new Set(['authorization', 'x-forwarded-host'])

/**
 * Removes the identity headers of the client, then adds those of the user (kcp
 * `pkg/proxy/authheaders/authheaders.go`).
 */
function headersOf(
  { exchange, mapping, user }: RoutedRequest,
  { request }: ClientSide,
  isIdentity: IsIdentity,
): HeaderMap {
  const { credentials, hops } = exchange.incoming
  const isAsserted = assertsIdentity(mapping.names)
  const isDropped = (name: string): boolean => isAsserted(name) || isIdentity(name) || own.has(name)
  const sent = withoutTokenProtocol(passedOn(credentials.headers, isDropped))
  const address = request.socket?.remoteAddress
  const { host = request.headers[':authority'] } = credentials.headers
  const before = sent['x-forwarded-for']
  return {
    ...sent,
    ...(address && { 'x-forwarded-for': before === undefined ? address : `${before}, ${address}` }),
    ...(host && { 'x-forwarded-host': String(host) }),
    'x-forwarded-proto': 'https',
    ...(hops > 0 && { 'x-kcp-virtual-resource-hops': String(hops) }),
    ...identityFields(user, mapping.names),
  }
}
