import { formatJson } from '../json/json.ts'
import { jsonIn } from './bodies.ts'
import { problemOf } from './failure.ts'
import { fetchText } from './fetch.ts'
import { clientWith, type ServerAccess, type ServerCredentials } from './serveraccess.ts'

export interface JsonResponse {
  readonly status: number
  /** undefined when the body is not JSON. */
  readonly body: unknown
}

export interface JsonRequest {
  /** POST with it; GET without. A Buffer is JSON already. */
  readonly body?: unknown
  /** Default: `application/json`. */
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** Sends JSON to a path below one server, and reads JSON. */
export type JsonClient = (path: string, request?: JsonRequest) => Promise<JsonResponse>

const limits = { timeout: 30_000, bytes: 32 * 1024 * 1024 }

/**
 * Rejects with an `Error` that says why there is no response, or with the reason of an aborted signal. `credentials`: the present ones,
 * instead of those of `access`.
 */
export function jsonClient(
  access: ServerAccess,
  credentials: () => ServerCredentials = () => access,
): JsonClient {
  const { origin, pathname } = new URL(access.server)
  const base = pathname.replace(/\/+$/, '')
  const client = clientWith(credentials, { connections: 16 })
  return async (path, { body, accept = 'application/json', signal } = {}) => {
    const isPost = body !== undefined
    const request = {
      origin,
      path: base + path || '/',
      method: isPost ? 'POST' : 'GET',
      headers: { accept, ...(isPost && { 'content-type': 'application/json' }) },
      ...(isPost && { body: Buffer.isBuffer(body) ? body : formatJson(body) }),
      ...(signal && { signal }),
    } as const
    const { status, text } = await fetchText(client(), request, limits).catch((error: unknown) => {
      throw signal?.aborted ? error : new Error(problemOf(error, '').reason, { cause: error })
    })
    return { status, body: jsonIn(text) }
  }
}
