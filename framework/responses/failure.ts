import { randomUUID } from 'node:crypto'
import type { Logger } from '../contract/log.ts'
import { internalError, StatusError } from '../meta/errors.ts'
import type { Answer } from '../request/response.ts'
import { documentAnswer } from './documentanswer.ts'
import { type NegotiationRequest, negotiateError } from './negotiation.ts'

/**
 * The response for a thrown error. A `StatusError` is sent as its Status; any other error is logged with an ID, and the
 * client gets a 500 with the ID.
 */
export function failureAnswer(error: unknown, request: NegotiationRequest, log: Logger): Answer {
  const { status } = error instanceof StatusError ? error : unexpected(error, log)
  const seconds = status.details?.retryAfterSeconds ?? 0
  const headers = {
    ...(seconds > 0 && { 'Retry-After': String(seconds) }),
    ...(status.code === 403 && { 'X-Content-Type-Options': 'nosniff' }),
  }
  return { ...documentAnswer(status, negotiateError(request), status.code), headers }
}

function unexpected(error: unknown, log: Logger): StatusError {
  const id = randomUUID()
  log.error(
    { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    'unexpected error',
  )
  return internalError(`an unexpected error, logged by the server as ${id}`)
}
