import { StatusError, serviceUnavailable, timeout } from '../meta/errors.ts'
import { AddressRefused } from './addresspolicy.ts'

/** Status 502. `why` continues a sentence about the other server. */
export class BadGateway extends StatusError {
  readonly why: string
  constructor(why: string) {
    super(502, 'BadGateway', `error trying to reach the server behind this endpoint: ${why}`)
    this.why = why
  }
}

export const badGateway = (why: string): StatusError => new BadGateway(why)

/** Status 502 for a response that is longer than this server reads: another attempt would get the same one. */
export class ResponseTooLarge extends BadGateway {
  /** `what` of the response has more than `most` bytes. */
  constructor(what: string, most: number) {
    super(`${what} in its response has more than ${most} bytes`)
  }
}

/** Status 503 for a URL that the address policy refuses. */
export const refusedUrl = (why: string): StatusError =>
  serviceUnavailable(`the URL of the endpoint is refused: ${why}`)

export const tookTooLong = (): StatusError =>
  timeout('the server behind this endpoint has not answered in time')

/** Why a server cannot be reached, and what the operator changes. Both continue a sentence. */
export interface ConnectionProblem {
  readonly reason: string
  readonly change: string
}

/** `where`: the setting that names the server, for example `server in the kubeconfig`. */
type ProblemFor = (where: string) => ConnectionProblem

const late = 'it has not answered in time'

const always =
  (reason: string, change: string): ProblemFor =>
  () => ({ reason, change })

const reset = always('the connection was reset', 'check the log of the server, and the network')
const noRoute = always('no route to host', 'check the network')
const largeHead = always('its response headers are too large', 'reduce the response headers of the server')
const malformed = always('its response is malformed', 'check what listens at this address')
const unknownAuthority: ProblemFor = where => ({
  reason: 'its certificate is signed by an unknown authority',
  change: `set certificate-authority in the kubeconfig to the authority that issued it, or use another serving certificate at ${where}`,
})
const noTls: ProblemFor = where => ({ reason: 'it does not speak TLS', change: `correct ${where}` })
const silent = always(late, 'check the load of the server, and the network')

const problems: ReadonlyMap<string, ProblemFor> = new Map(
  Object.entries({
    ECONNREFUSED: where => ({
      reason: 'connection refused',
      change: `start the server, or correct ${where}`,
    }),
    ECONNRESET: reset,
    EPIPE: reset,
    UND_ERR_SOCKET: always('the connection was closed', 'check the log of the server, and the network'),
    ENOTFOUND: where => ({ reason: 'no such host', change: `correct the host in ${where}, or DNS` }),
    EAI_AGAIN: where => ({ reason: 'no such host', change: `check DNS, or correct the host in ${where}` }),
    EHOSTUNREACH: noRoute,
    ENETUNREACH: noRoute,
    UND_ERR_HEADERS_OVERFLOW: largeHead,
    HPE_HEADER_OVERFLOW: largeHead,
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: malformed,
    CERT_HAS_EXPIRED: always('its certificate has expired', 'renew the serving certificate'),
    CERT_NOT_YET_VALID: always(
      'its certificate is not valid yet',
      'check the clocks of both machines, or renew the serving certificate',
    ),
    ERR_TLS_CERT_ALTNAME_INVALID: where => ({
      reason: 'its certificate is for another host',
      change: `use a host name of its certificate in ${where}, or issue a certificate for this host`,
    }),
    SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
    DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
    UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
    CERT_SIGNATURE_FAILURE: unknownAuthority,
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: always(
      'it does not trust the authority of the client certificate',
      'issue a client certificate of an authority in its --client-ca-file, or add that authority there',
    ),
    ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: always(
      'the client certificate has expired',
      'renew the client certificate in the kubeconfig',
    ),
    ERR_SSL_WRONG_VERSION_NUMBER: noTls,
    EPROTO: noTls,
    UND_ERR_CONNECT_TIMEOUT: silent,
    UND_ERR_HEADERS_TIMEOUT: silent,
    UND_ERR_BODY_TIMEOUT: silent,
    ETIMEDOUT: silent,
    TimeoutError: silent,
  } satisfies Readonly<Record<string, ProblemFor>>),
)

const textCode = (error: unknown): string => {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}

const causeOf = (error: unknown): unknown => (error as { cause?: unknown } | null | undefined)?.cause

/** The code of an error or of its cause; else its name. A call that ran out of time ends with an `AbortError` about that. */
function codeOf(error: unknown): string {
  const cause = causeOf(error)
  if (error instanceof Error && error.name === 'AbortError' && cause !== undefined) return codeOf(cause)
  return textCode(error) || textCode(cause) || (error instanceof Error ? error.name : '')
}

/** The problem that a code of Node, OpenSSL or undici stands for. */
export const problemOfCode = (code: string, where: string): ConnectionProblem =>
  problems.get(code)?.(where) ?? {
    reason: `the connection failed (${code || 'no response'})`,
    change: `check ${where}, and whether a firewall blocks the connection`,
  }

/** The problem behind a failed request. */
export function problemOf(error: unknown, where: string): ConnectionProblem {
  if (error instanceof AddressRefused) return { reason: error.message, change: `correct ${where}` }
  return isUnreadable(error) ? malformed(where) : problemOfCode(codeOf(error), where)
}

const isUnreadable = (error: unknown): boolean => error instanceof Error && error.name === 'HTTPParserError'

/** The status error that a client gets for a failed connection: no address and no stack. */
export function failureOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof AddressRefused) return refusedUrl(error.message)
  const code = textCode(error)
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' || code === 'UND_ERR_INVALID_ARG')
    return new StatusError(400, 'BadRequest', 'the request cannot be passed on: it is malformed')
  const known = isUnreadable(error) ? malformed : problems.get(code)
  const reason = known?.('').reason ?? 'the connection failed'
  return reason === late ? tookTooLong() : badGateway(reason)
}

/** The server may close a kept connection while it is used again: the request was not processed. */
export const isStaleConnection = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(textCode(error))

/** An error with which connections are closed. It has no stack, because streams read that of each error, which takes a while to make. */
export const closing = (message: string): Error =>
  Object.assign(new Error(message), { stack: `Error: ${message}` })
