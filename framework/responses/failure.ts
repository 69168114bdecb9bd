import { randomUUID } from 'node:crypto'
import type { Logger } from '../contract/log.ts'
import { internalError, StatusError } from '../meta/errors.ts'
import type { Answer } from '../request/response.ts'
import { documentAnswer } from './documentanswer.ts'
import { type Asker, negotiateError } from './negotiation.ts'

/**
 * The one place that turns what was thrown into an answer. A `StatusError` is its Status; anything else is logged under
 * an id, and the client gets the id.
 */
export function failureAnswer(error: unknown, asker: Asker, log: Logger): Answer {
  const { status } = error instanceof StatusError ? error : unexpected(error, log)
  const seconds = status.details?.retryAfterSeconds ?? 0
  const headers = {
    ...(seconds > 0 && { 'Retry-After': String(seconds) }),
    ...(status.code === 403 && { 'X-Content-Type-Options': 'nosniff' }),
  }
  return { ...documentAnswer(status, negotiateError(asker), status.code), headers }
}

function unexpected(error: unknown, log: Logger): StatusError {
  const id = randomUUID()
  log.error(
    { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    'unexpected error',
  )
  return internalError(`an unexpected error, logged by the server as ${id}`)
}
