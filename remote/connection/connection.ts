import type { RequestContext } from '../../framework/contract/context.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { expired, type Status, StatusError } from '../../framework/meta/errors.ts'
import { shardError } from '../../framework/net/bodies.ts'
import {
  createClient,
  type HttpClient,
  mostHeadOfShard,
  type OutgoingResponse,
} from '../../framework/net/client.ts'
import { badGateway, failureOf } from '../../framework/net/failure.ts'
import type { HeaderMap } from '../../framework/net/headers.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { createReach, type Reach } from './reach.ts'

export type ShardAnswer = OutgoingResponse

/** A connection to a shard with credentials of the group `system:masters`. */
export interface ShardConnection {
  /** The response with any status code. Throws a `StatusError` when there is no response. */
  send(request: ShardRequest): Promise<ShardAnswer>
  /** The response of a successful request. Otherwise throws the Status that the shard returned. */
  ask(request: ShardRequest): Promise<ShardAnswer>
  /** Switches to other credentials. Running requests complete. */
  use(access: ServerAccess): void
  readonly reach: Reach
  close(): Promise<void>
}

interface Open {
  readonly client: HttpClient
  readonly origin: string
}

/** Milliseconds without data after which a connection counts as broken; shards send a bookmark every minute. */
export const longestSilence = 180_000

const open = (access: ServerAccess, headersTimeout: number): Open => ({
  client: createClient({
    tls: tlsOf(access),
    ...(access.socketPath !== undefined && { socketPath: access.socketPath }),
    headers: { ...authorizationOf(access) },
    connectTimeout: Math.min(headersTimeout, 10_000),
    headersTimeout,
    mostHead: mostHeadOfShard,
    bodyTimeout: longestSilence,
    keepAlive: 4_000,
  }),
  origin: new URL(access.server).origin,
})

/**
 * Connects on first use. `log` gets one line when the shard becomes unusable, and one when it is usable again.
 * `headersTimeout`: milliseconds until the response headers must arrive.
 */
export function connectShard(access: ServerAccess, log: Logger, headersTimeout = 60_000): ShardConnection {
  let current = open(access, headersTimeout)
  const reach = createReach(() => current.origin, log)
  reach.presents(access.cert)
  const send = async (request: ShardRequest): Promise<ShardAnswer> => {
    const used = current
    // A response to earlier credentials tells nothing about the present ones.
    const isCurrent = (): boolean => used === current
    try {
      const answer = await sent(used, request)
      if (isCurrent()) reach.answered(answer.statusCode, request)
      if (answer.statusCode === 401) throw await refusal(answer)
      return answer
    } catch (error) {
      if (isCurrent() && !request.signal.aborted) reach.failed(error, request)
      throw failureOf(error)
    }
  }
  return {
    send,
    async ask(request) {
      const answer = await send(request)
      if (answer.statusCode < 300) return answer
      throw statusError(answer.statusCode, await shardError(answer.body))
    },
    use(next) {
      const before = current
      current = open(next, headersTimeout)
      reach.presents(next.cert)
      void before.client.close()
    },
    reach,
    close: () => current.client.destroy(),
  }
}

/** A 401 of the shard is about the credentials of this process: clients get 502. */
async function refusal({ body }: ShardAnswer): Promise<StatusError> {
  await body.dump()
  return badGateway('the shard rejected the credentials of this server')
}

const sent = ({ client, origin }: Open, request: ShardRequest): Promise<ShardAnswer> =>
  client.request({
    origin,
    path: request.target,
    method: request.method,
    signal: request.signal,
    headers: { ...common, ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  })

const common: HeaderMap = { accept: 'application/json', 'user-agent': 'oriel-virtual-workspaces' }

/** The text of a review. Throws 502 where it is incomplete or too large. */
export const textOf = ({ body }: ShardAnswer): Promise<string> => shardError(body)

/** The Status in an error response; other bodies become its message. */
export function statusError(code: number, text: string): StatusError {
  try {
    const { reason = '', message = text, details, metadata } = JSON.parse(text) as Partial<Status>
    if (code === 410 && reason === 'Expired') return expired(message, metadata?.continue)
    return new StatusError(code, reason, message, details)
  } catch {
    return new StatusError(code, '', text.slice(0, 200).trim())
  }
}

const warning = /299 \S+ "((?:[^"\\]|\\.)*)"/g

/** Passes the warnings of the shard on to the client (rules.md 1.53). */
export function passWarnings(
  { record }: Pick<RequestContext, 'record'>,
  { headers }: Pick<ShardAnswer, 'headers'>,
): void {
  for (const [, text = ''] of String(headers.warning ?? '').matchAll(warning))
    record.warn(Buffer.from(text.replace(/\\(.)/g, '$1'), 'latin1').toString())
}

/** A request to a shard. */
export interface ShardRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query. */
  readonly target: string
  readonly headers?: HeaderMap
  readonly body?: string | Buffer
  readonly signal: AbortSignal
}
