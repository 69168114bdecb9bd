import { StatusError, timeout } from '../meta/errors.ts'
import { TargetError } from './targets.ts'

/** 502: the server behind this one did not do its part. */
export const badGateway = (why: string): StatusError =>
  new StatusError(502, 'BadGateway', `error trying to reach the server behind this endpoint: ${why}`)

export const tookTooLong = (): StatusError =>
  timeout('the server behind this endpoint has not answered in time')

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'no route to host',
  UND_ERR_HEADERS_OVERFLOW: 'the head of its answer is too large',
  HPE_HEADER_OVERFLOW: 'the head of its answer is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer is malformed',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not trusted',
}

const late = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** What a failed connection is to the client: never an address, never a stack. */
export function failureOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof TargetError) return badGateway(error.message)
  const code = codeOf(error)
  if (late.has(code)) return tookTooLong()
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' || code === 'UND_ERR_INVALID_ARG')
    return new StatusError(400, 'BadRequest', 'the request cannot be passed on: it is malformed')
  const isUnreadable = error instanceof Error && error.name === 'HTTPParserError'
  return badGateway(reasons[code] ?? (isUnreadable ? 'its answer is malformed' : 'the connection failed'))
}

/** A kept connection may be closed by the other side just when it is used again: that says nothing about the request. */
export const isStaleConnection = (error: unknown): boolean =>
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error))
