import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { rootCertificates, type SecureContextOptions } from 'node:tls'
import type { Agent } from 'undici'
import type { Outbound, UpstreamEndpoint, UpstreamRequest, UpstreamResponse } from '../contract/upstream.ts'
import { serviceUnavailable } from '../meta/errors.ts'
import { failureOf } from './failure.ts'
import { forward } from './forward.ts'
import { type Fields, isAnswerSecret, isSecret, passedOn, withoutTokenProtocol } from './headers.ts'
import { checkPath } from './target.ts'
import { createTargets, type TargetPolicy, type Targets } from './targets.ts'
import { forwardUpgrade } from './upgrade.ts'

export interface OutboundOptions extends TargetPolicy {
  /** PEM: authorities that are believed besides the well-known ones. */
  readonly ca?: string
  /** Milliseconds to wait for an endpoint that is silent; default a minute. */
  readonly patience?: number
}

/** The way to servers of others: nothing about the client goes there, and only where the policy allows. */
export function createOutbound(options: OutboundOptions): Outbound {
  const targets = createTargets(options)
  const agents = createAgents(targets, options.ca)
  const places = createPlaces(targets)
  const patience = options.patience === undefined ? {} : { patience: options.patience }
  return {
    problemOf: targets.problemOf,
    forwarding(request) {
      const sent = sentTo(places.of(request.endpoint.url), request)
      return {
        async forward(client) {
          const { tls, agent } = await agents.of(request.endpoint)
          if (client.upgrade === undefined)
            return forward({ ...sent, ...patience, dispatcher: agent }, client)
          const headers = withoutTokenProtocol(sent.headers)
          return forwardUpgrade({ ...sent, headers, connect: { ...tls, lookup: targets.lookup } }, client)
        },
      }
    },
    async get(endpoint, path, signal) {
      const { origin, base } = places.of(endpoint.url)
      const { agent } = await agents.of(endpoint)
      return getSmall(agent, { origin, path: base + path, headers: endpoint.headers ?? {} }, signal)
    },
  }
}

/** The URL of an endpoint, taken apart. */
interface Place {
  readonly origin: string
  /** Without a slash at its end. */
  readonly base: string
}

const mostPlaces = 1_000

/** URLs are checked and taken apart once: there are few, and many requests for each. Throws 503 for refused ones. */
function createPlaces({ problemOf }: Targets): { of(url: string): Place } {
  const places = new Map<string, Place>()
  return {
    of(url) {
      const known = places.get(url)
      if (known !== undefined) return known
      const problem = problemOf(url)
      if (problem !== undefined) throw serviceUnavailable(`the URL of the endpoint is refused: ${problem}`)
      const { origin, pathname } = new URL(url)
      const place = { origin, base: pathname.replace(/\/$/, '') }
      if (places.size >= mostPlaces) places.clear()
      places.set(url, place)
      return place
    },
  }
}

/** What a request looks like to the endpoint. */
function sentTo({ origin, base }: Place, request: UpstreamRequest) {
  const { incoming, endpoint, path } = request
  const headers: Fields = {
    ...passedOn(incoming.headers, isSecret),
    'x-kcp-virtual-resource-hops': String(incoming.hops + 1),
    ...endpoint.headers,
  }
  return {
    origin,
    target: `${base}${checkPath(path)}${incoming.search}` || '/',
    headers,
    answered: answersOf({ origin, base }, request),
  }
}

/** What clients get to see of the endpoint's answers: redirects lead back to where the endpoint is seen, the audit id is ours. */
function answersOf(
  { origin, base }: Place,
  { incoming, seenAs }: UpstreamRequest,
): (headers: IncomingHttpHeaders) => OutgoingHttpHeaders {
  const inside = `${origin}${base}`
  return headers => {
    const { location, ...others } = passedOn(headers, isAnswerSecret)
    const kept = { ...others, 'audit-id': incoming.auditId }
    if (typeof location !== 'string') return kept as OutgoingHttpHeaders
    const [absolute] = location.startsWith('/') ? [`${origin}${location}`] : [location]
    const isInside = absolute === inside || absolute?.startsWith(`${inside}/`)
    const shown = isInside ? seenAs + (absolute?.slice(inside.length) ?? '') : undefined
    return { ...kept, ...(shown === undefined ? {} : { location: shown }) } as OutgoingHttpHeaders
  }
}

interface Agents {
  of(endpoint: UpstreamEndpoint): Promise<Connections>
}

/** TLS and connections of one set of credentials. */
interface Connections {
  readonly tls: SecureContextOptions
  readonly agent: Agent
}

/** So many different sets of TLS credentials keep their connections. */
const mostAgents = 256

/** Connections are never shared between different credentials. */
function createAgents({ lookup }: Targets, ca: string | undefined): Agents {
  const known = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
  const byKey = new Map<string, Connections>()
  // Endpoints keep their TLS object for as long as it says the same.
  const byObject = new WeakMap<object, Connections>()
  let undici: typeof import('undici') | undefined
  const open = (tls: SecureContextOptions): Connections => {
    const key = createHash('sha256')
      .update(JSON.stringify([tls.ca, tls.cert, tls.key]))
      .digest('base64')
    const [oldest] = byKey.keys()
    const found = byKey.get(key)
    if (found !== undefined || undici === undefined) return found as Connections
    if (byKey.size >= mostAgents && oldest !== undefined) {
      void byKey.get(oldest)?.agent.close()
      byKey.delete(oldest)
    }
    const opened = { tls, agent: new undici.Agent({ connect: { ...tls, lookup, timeout: 10_000 } }) }
    byKey.set(key, opened)
    return opened
  }
  const plain = {}
  return {
    async of({ tls = plain }) {
      const found = byObject.get(tls)
      if (found !== undefined && !found.agent.closed) return found
      // Loaded when first needed: few servers ever pass a request on.
      undici ??= await import('undici')
      const opened = open({ ...known, ...tls })
      byObject.set(tls, opened)
      return opened
    },
  }
}

const mostBytes = 64 * 1024

interface GetOptions {
  readonly origin: string
  readonly path: string
  readonly headers: NonNullable<UpstreamEndpoint['headers']>
}

async function getSmall(
  agent: Agent,
  { origin, path, headers }: GetOptions,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  try {
    const { statusCode, body } = await agent.request({
      origin,
      path,
      method: 'GET',
      headers: headers as Record<string, string | string[]>,
      signal,
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > mostBytes) break
      chunks.push(chunk)
    }
    return { status: statusCode, body: Buffer.concat(chunks).toString() }
  } catch (error) {
    throw failureOf(error)
  }
}
