import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'

/** A server's certificate, as whoever knows the authorities of a connection sees it. */
export interface SeenCertificate {
  readonly validTo: Date
  /** Why it is not believed: OpenSSL's code, or what names it has instead; undefined when it is. */
  readonly problem?: string
}

/** What a server answered, whoever it turned out to be. */
export interface Seen {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly certificate?: SeenCertificate
}

export interface Probe {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const patience = 10_000

/**
 * Asks one URL over a connection of its own. The answer is read although the certificate is not believed: a bad one is a
 * finding, and not the end. Credentials are sent only to who is believed. Rejects when there is no answer.
 */
export async function probe(
  access: ServerAccess,
  url: string,
  { headers = {}, body }: Probe = {},
): Promise<Seen> {
  const certificate = await certificateOf(access, url)
  const isKnown = certificate.problem === undefined || access.insecure === true
  const { ca, cert, key, token } = access
  const agent = new Agent({
    rejectUnauthorized: false,
    ...(ca !== undefined && { ca }),
    ...(isKnown && cert !== undefined && { cert }),
    ...(isKnown && key !== undefined && { key }),
  })
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const call = request(url, {
    agent,
    method: sent === undefined ? 'GET' : 'POST',
    signal: AbortSignal.timeout(patience),
    headers: {
      accept: 'application/json',
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...(isKnown && token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
  call.end(sent)
  try {
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    return { status: response.statusCode ?? 0, headers: response.headers, text, certificate }
  } finally {
    agent.destroy()
  }
}

/** Shakes hands, and hangs up. */
async function certificateOf({ ca }: ServerAccess, url: string): Promise<SeenCertificate> {
  const agent = new Agent({ rejectUnauthorized: false, ...(ca !== undefined && { ca }) })
  const call = request(url, { agent, method: 'HEAD', signal: AbortSignal.timeout(patience) })
  call.end()
  try {
    const [socket] = (await once(call, 'socket')) as [TLSSocket]
    await Promise.race([once(socket, 'secureConnect'), once(call, 'response')])
    const peer = socket.getPeerCertificate()
    const problem = problemOf(socket, new URL(url).hostname, peer)
    return { validTo: new Date(peer.valid_to), ...(problem !== undefined && { problem }) }
  } finally {
    // Nobody waits for the answer.
    call.on('error', () => undefined)
    agent.destroy()
  }
}

function problemOf(socket: TLSSocket, host: string, peer: PeerCertificate): string | undefined {
  const { authorizationError } = socket
  if (authorizationError) return String((authorizationError as { code?: string }).code ?? authorizationError)
  const bare = host.replace(/^\[|\]$/g, '')
  return checkServerIdentity(bare, peer) === undefined ? undefined : 'ERR_TLS_CERT_ALTNAME_INVALID'
}

/** The body as JSON; {} for what is none. */
export function jsonOf<T extends object>({ text }: Seen): Partial<T> {
  try {
    return JSON.parse(text) as T
  } catch {
    return {}
  }
}
