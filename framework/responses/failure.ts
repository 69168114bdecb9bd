import { randomUUID } from 'node:crypto'
import type { Logger } from '../contract/log.ts'
import { internalError, StatusError } from '../meta/errors.ts'
import type { Answer } from '../request/response.ts'
import { documentAnswer } from './documentanswer.ts'
import { type NegotiationRequest, negotiateError, parseAccept } from './negotiation.ts'
import { text } from './textanswer.ts'

/**
 * The response for a thrown error. A `StatusError` is sent as its Status; any other error is logged with an ID, and the
 * client gets a 500 with the ID.
 */
export function failureAnswer(error: unknown, request: NegotiationRequest, log: Logger): Answer {
  try {
    return answerFor(error instanceof StatusError ? error : unexpected(error, log), request)
  } catch (failure) {
    // A Status with values of wrong types, for instance of a plugin.
    return answerFor(unexpected(failure, log), request)
  }
}

function answerFor({ status }: StatusError, request: NegotiationRequest): Answer {
  if (status.code === 403 && isDiscovery(request)) return text(403, status.message ?? '')
  const seconds = status.details?.retryAfterSeconds ?? 0
  const headers = {
    ...(Number.isSafeInteger(seconds) && seconds > 0 && { 'Retry-After': String(seconds) }),
    ...(status.code === 403 && { 'X-Content-Type-Options': 'nosniff' }),
  }
  return { ...documentAnswer(status, negotiateError(request), status.code), headers }
}

/** Discovery of client-go shows the message of a 403 only if it is text (client-go `rest/request.go`, `isTextResponse`). */
const isDiscovery = ({ headers }: NegotiationRequest): boolean =>
  parseAccept(headers.accept).some(({ parameters }) => parameters.as === 'APIGroupDiscoveryList')

function unexpected(error: unknown, log: Logger): StatusError {
  const id = randomUUID()
  log.error(
    { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    'unexpected error',
  )
  return internalError(`an unexpected error, logged by the server as ${id}`)
}

export const shuttingDown: Answer = {
  ...text(429, 'The apiserver is shutting down, please try again later.'),
  headers: { 'Retry-After': '5', 'X-Content-Type-Options': 'nosniff' },
}

/** kube-apiserver's response, `tooManyRequests` of `k8s.io/apiserver/pkg/server/filters/maxinflight.go`. */
export const tooMany = ({ retryAfter }: { readonly retryAfter: number }): Answer => ({
  ...text(429, 'Too many requests, please try again later.\n'),
  headers: { 'Retry-After': String(retryAfter), 'X-Content-Type-Options': 'nosniff' },
})
