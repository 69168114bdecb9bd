import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { rootCertificates, type SecureContextOptions } from 'node:tls'
import type { Agent } from 'undici'
import { serviceUnavailable } from '../framework/errors.ts'
import type { Departure, Endpoint, Glimpse, Outbound } from '../framework/passage.ts'
import { failureOf } from './failure.ts'
import { forward } from './forward.ts'
import { type Fields, isAnswerSecret, isSecret, passedOn, withoutTokenProtocol } from './headers.ts'
import { createTargets, type TargetPolicy, type Targets } from './policy.ts'
import { checkPath } from './target.ts'
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
  const agents = createAgents(targets)
  const known = options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }
  const tlsOf = ({ tls }: Endpoint): SecureContextOptions => ({ ...known, ...tls })
  const patience = options.patience === undefined ? {} : { patience: options.patience }
  const checked = (endpoint: Endpoint): URL => {
    const problem = targets.problemOf(endpoint.url)
    if (problem !== undefined) throw serviceUnavailable(`the URL of the endpoint is refused: ${problem}`)
    return new URL(endpoint.url)
  }
  return {
    problemOf: targets.problemOf,
    passage(departure) {
      const url = checked(departure.endpoint)
      const tls = tlsOf(departure.endpoint)
      const sent = sentTo(url, departure)
      return {
        pass: async client =>
          client.upgrade === undefined
            ? forward({ ...sent, ...patience, dispatcher: await agents.of(tls) }, client)
            : forwardUpgrade(
                {
                  ...sent,
                  headers: withoutTokenProtocol(sent.headers),
                  connect: { ...tls, lookup: targets.lookup },
                },
                client,
              ),
      }
    },
    async look(endpoint, path, signal) {
      const url = checked(endpoint)
      return look(await agents.of(tlsOf(endpoint)), { url, path, headers: endpoint.headers ?? {} }, signal)
    },
  }
}

/** What a request looks like to the endpoint. */
function sentTo(url: URL, { incoming, endpoint, path, seenAs }: Departure) {
  const base = url.pathname.replace(/\/$/, '')
  const headers: Fields = {
    ...passedOn(incoming.headers, isSecret),
    'x-kcp-virtual-resource-hops': String(incoming.hops + 1),
    ...endpoint.headers,
  }
  return {
    origin: url.origin,
    target: `${base}${checkPath(path)}${incoming.search}` || '/',
    headers,
    answered: answersOf(url, base, seenAs),
  }
}

/** What clients get to see of the endpoint's answers: redirects lead back to where the endpoint is seen. */
function answersOf(
  { origin }: URL,
  base: string,
  seenAs: string,
): (headers: IncomingHttpHeaders) => OutgoingHttpHeaders {
  const inside = `${origin}${base}`
  return headers => {
    const { location, ...kept } = passedOn(headers, isAnswerSecret)
    if (typeof location !== 'string') return kept as OutgoingHttpHeaders
    const [absolute] = location.startsWith('/') ? [`${origin}${location}`] : [location]
    const isInside = absolute === inside || absolute?.startsWith(`${inside}/`)
    const shown = isInside ? seenAs + (absolute?.slice(inside.length) ?? '') : undefined
    return { ...kept, ...(shown === undefined ? {} : { location: shown }) } as OutgoingHttpHeaders
  }
}

interface Agents {
  of(tls: SecureContextOptions): Promise<Agent>
}

/** So many different sets of TLS credentials keep their connections. */
const mostAgents = 256

/** One pool of connections per set of credentials: connections are never shared between them. */
function createAgents({ lookup }: Targets): Agents {
  const agents = new Map<string, Agent>()
  return {
    async of(tls) {
      // Loaded when first needed: few servers ever pass a request on.
      const { Agent } = await import('undici')
      const key = createHash('sha256')
        .update(JSON.stringify([tls.ca, tls.cert, tls.key]))
        .digest('base64')
      const known = agents.get(key)
      if (known !== undefined) return known
      const [oldest] = agents.keys()
      if (agents.size >= mostAgents && oldest !== undefined) {
        void agents.get(oldest)?.close()
        agents.delete(oldest)
      }
      const agent = new Agent({ connect: { ...tls, lookup, timeout: 10_000 } })
      agents.set(key, agent)
      return agent
    },
  }
}

const mostBytes = 64 * 1024

interface Look {
  readonly url: URL
  readonly path: string
  readonly headers: NonNullable<Endpoint['headers']>
}

async function look(agent: Agent, { url, path, headers }: Look, signal: AbortSignal): Promise<Glimpse> {
  try {
    const { statusCode, body } = await agent.request({
      origin: url.origin,
      path: url.pathname.replace(/\/$/, '') + path,
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
