import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { type ConnectionOptions, rootCertificates } from 'node:tls'
import type { Outbound, UpstreamEndpoint, UpstreamRequest } from '../contract/upstream.ts'
import { type AddressPolicy, type AddressRules, createAddressPolicy } from './addresspolicy.ts'
import { headOf } from './bodies.ts'
import { type ClientTls, createClient, type HttpClient, withContext } from './client.ts'
import { failureOf, refusedUrl } from './failure.ts'
import { checkPath, forward } from './forward.ts'
import { type HeaderMap, isAnswerSecret, isSecret, passedOn, withoutTokenProtocol } from './headers.ts'
import { forwardUpgrade } from './upgrade.ts'

export interface OutboundOptions extends AddressRules {
  /** PEM: certificate authorities that are trusted besides Node's. */
  readonly ca?: string
  /** Milliseconds without data until a request fails; default: a minute. */
  readonly responseTimeout?: number
}

/** Forwards requests to servers that the address policy allows, without the credentials and the identity of the client. */
export function createOutbound(options: OutboundOptions): Outbound {
  const addresses = createAddressPolicy(options)
  const clients = createClients(addresses, options.ca)
  const urls = createUrls(addresses)
  const responseTimeout =
    options.responseTimeout === undefined ? {} : { responseTimeout: options.responseTimeout }
  return {
    refusalOf: async (url, identity) => {
      const refusal = await addresses.refusalOf(url)
      return refusal ?? (identity === 'Forward' ? addresses.tokenProblemOf(url) : undefined)
    },
    forwarding(request) {
      const sent = sentTo(urls.of(request.endpoint.url), request, tokenFor(addresses, request))
      return {
        async forward(client) {
          const { http, upgradeTls } = clients.of(request.endpoint)
          if (client.upgrade === undefined)
            return forward({ ...sent, ...responseTimeout, dispatcher: await http.dispatcher() }, client)
          const headers = withoutTokenProtocol(sent.headers)
          const connect = { ...upgradeTls(), lookup: addresses.lookup }
          return forwardUpgrade({ ...sent, headers, connect }, client)
        },
      }
    },
    async get(endpoint, path, signal) {
      const { origin, base } = urls.of(endpoint.url)
      const { http } = clients.of(endpoint)
      try {
        const headers = endpoint.headers ?? {}
        const { statusCode, body } = await http.request({ origin, path: base + path, headers, signal })
        return { status: statusCode, body: await headOf(body, mostBytes) }
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

/** The parsed URL of an endpoint. */
interface EndpointUrl {
  readonly origin: string
  /** Without a trailing slash. */
  readonly base: string
}

const mostUrls = 1_000

/** Checks and parses each URL once. Throws 503 for refused ones. */
function createUrls({ problemOf }: AddressPolicy): { of(url: string): EndpointUrl } {
  const urls = new Map<string, EndpointUrl>()
  return {
    of(url) {
      const known = urls.get(url)
      if (known !== undefined) return known
      const problem = problemOf(url)
      if (problem !== undefined) throw refusedUrl(problem)
      const { origin, pathname } = new URL(url)
      const parsed = { origin, base: pathname.replace(/\/$/, '') }
      if (urls.size >= mostUrls) urls.clear()
      urls.set(url, parsed)
      return parsed
    },
  }
}

/** The header with the bearer token of the client, for hosts that may get it. Throws 503 for others. */
function tokenFor(
  { tokenProblemOf }: AddressPolicy,
  { identity, endpoint, incoming }: UpstreamRequest,
): HeaderMap {
  if (identity !== 'Forward') return {}
  const problem = tokenProblemOf(endpoint.url)
  if (problem !== undefined) throw refusedUrl(problem)
  const { authorization = '' } = incoming.credentials.headers
  return /^bearer /i.test(authorization) ? { authorization } : {}
}

/** The request that the endpoint gets. */
function sentTo({ origin, base }: EndpointUrl, request: UpstreamRequest, token: HeaderMap) {
  const { incoming, endpoint, path } = request
  const headers: HeaderMap = {
    ...passedOn(incoming.headers, isSecret),
    'x-kcp-virtual-resource-hops': String(incoming.hops + 1),
    ...token,
    ...endpoint.headers,
  }
  return {
    origin,
    target: `${base}${checkPath(path)}${incoming.search}` || '/',
    headers,
    answered: responseHeadersOf({ origin, base }, request),
  }
}

/** A page of the endpoint has no origin in a browser, so that its scripts cannot use the user's certificate or the console. */
const sandbox = 'sandbox allow-scripts allow-forms allow-popups allow-downloads'

/**
 * The response headers that clients get: `location` is the URL under which clients reach the endpoint, `audit-id` is that of
 * this server.
 */
function responseHeadersOf(
  endpoint: EndpointUrl,
  { incoming, path, seenAs }: UpstreamRequest,
): (headers: IncomingHttpHeaders) => OutgoingHttpHeaders {
  return headers => {
    const { location, ...others } = passedOn(headers, isAnswerSecret)
    const policy = [others['content-security-policy'] ?? [], sandbox].flat().join(', ')
    const kept = { ...others, 'audit-id': incoming.auditId, 'content-security-policy': policy }
    const inside = typeof location === 'string' ? pathInside(endpoint, location, path) : undefined
    return (inside === undefined ? kept : { ...kept, location: seenAs + inside }) as OutgoingHttpHeaders
  }
}

/** Where below the endpoint clients would look for a location; undefined: elsewhere. */
function pathInside({ origin, base }: EndpointUrl, location: string, asked: string): string | undefined {
  const from = `${origin}${base}${asked}`
  if (!URL.canParse(location, from)) return undefined
  const found = new URL(location, from)
  const isInside = found.origin === origin && `${found.pathname}/`.startsWith(`${base}/`)
  return isInside ? found.pathname.slice(base.length) + found.search + found.hash : undefined
}

interface Clients {
  of(endpoint: UpstreamEndpoint): Client
}

interface Client {
  readonly http: HttpClient
  /** The TLS options of connections for upgrades, made once. */
  upgradeTls(): ConnectionOptions
}

/** Sets of TLS credentials whose connections are kept. */
const mostClients = 256

/** Connections are never shared between different credentials. */
function createClients({ lookup }: AddressPolicy, ca: string | undefined): Clients {
  const known = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
  const byKey = new Map<string, Client>()
  // Endpoints keep their TLS object until it changes.
  const byObject = new WeakMap<object, Client>()
  const clientFor = (tls: ClientTls): Client => {
    const key = createHash('sha256')
      .update(JSON.stringify([tls.ca, tls.cert, tls.key]))
      .digest('base64')
    const [oldest] = byKey.keys()
    const found = byKey.get(key)
    if (found !== undefined) return found
    if (byKey.size >= mostClients && oldest !== undefined) {
      void byKey.get(oldest)?.http.close()
      byKey.delete(oldest)
    }
    let options: ConnectionOptions | undefined
    const upgradeTls = (): ConnectionOptions => {
      options ??= withContext(tls)
      return options
    }
    const opened = { http: createClient({ tls, lookup }), upgradeTls }
    byKey.set(key, opened)
    return opened
  }
  const plain = {}
  return {
    of({ tls = plain }) {
      const found = byObject.get(tls)
      if (found !== undefined && !found.http.isClosed) return found
      const opened = clientFor({ ...known, ...tls })
      byObject.set(tls, opened)
      return opened
    },
  }
}

const mostBytes = 64 * 1024
