import { once } from 'node:events'
import { isIP } from 'node:net'
import { checkServerIdentity, connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { jsonIn } from '../../framework/net/bodies.ts'
import { fetchOnce, type TextResponse } from '../../framework/net/fetch.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'

/** The certificate of a server, verified by the authorities of a kubeconfig. */
export interface SeenCertificate {
  readonly validTo: Date
  /** OpenSSL's code when the verification fails. */
  readonly problem?: string
}

/** The response of a server, even if its certificate is not trusted. */
export interface ProbeResponse extends TextResponse {
  readonly certificate: SeenCertificate
}

export interface ProbeRequest {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

const timeout = 10_000
const limits = { timeout, bytes: 32 * 1024 * 1024 }

/**
 * Sends one request over a new connection. An untrusted certificate is reported in the result, and the response is
 * still read. Credentials are sent to trusted servers only. Rejects when there is no response.
 */
export async function probe(
  access: ServerAccess,
  url: string,
  { headers = {}, body }: ProbeRequest = {},
): Promise<ProbeResponse> {
  const certificate = await certificateOf(access, url)
  const { ca, ...credentials } = access
  const shown = isTrusted(access, certificate) ? credentials : {}
  const response = await fetchOnce(
    url,
    {
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...authorizationOf(shown),
        ...headers,
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    },
    { limits, tls: tlsOf({ ...shown, ...(ca && { ca }), insecure: true }) },
  )
  return { ...response, certificate }
}

/** Whether credentials are sent to a server with this certificate. */
export const isTrusted = ({ insecure }: ServerAccess, { problem }: SeenCertificate): boolean =>
  problem === undefined || insecure === true

/** Completes the handshake and closes the connection. */
async function certificateOf({ ca }: ServerAccess, url: string): Promise<SeenCertificate> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port || 443),
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeout) })
    const peer = socket.getPeerCertificate()
    const problem = problemOf(socket, host, peer)
    return { validTo: new Date(peer.valid_to), ...(problem !== undefined && { problem }) }
  } finally {
    // The connection may fail while it is closed.
    socket.on('error', () => undefined)
    socket.destroy()
  }
}

function problemOf(socket: TLSSocket, host: string, peer: PeerCertificate): string | undefined {
  const { authorizationError } = socket
  if (authorizationError) return String((authorizationError as { code?: string }).code ?? authorizationError)
  return checkServerIdentity(host, peer) === undefined ? undefined : 'ERR_TLS_CERT_ALTNAME_INVALID'
}

/** The body as a JSON object; {} for other texts. */
export const jsonOf = <T extends object>({ text }: TextResponse): Partial<T> =>
  (jsonIn(text) as Partial<T> | undefined) ?? {}
