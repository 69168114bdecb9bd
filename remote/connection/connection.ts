import type { RequestContext } from '../../framework/contract/context.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { expired, type Status, StatusError } from '../../framework/meta/errors.ts'
import { createClient, type HttpClient, type OutgoingResponse } from '../../framework/net/client.ts'
import { badGateway, failureOf } from '../../framework/net/failure.ts'
import type { HeaderMap } from '../../framework/net/headers.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { createReach, type Reach } from './reach.ts'

export type ShardAnswer = OutgoingResponse

/** A connection to a shard, with credentials that are permitted to do everything there. */
export interface ShardConnection {
  /** The response with any status code. Throws a `StatusError` when there is none. */
  send(request: ShardRequest): Promise<ShardAnswer>
  /** The response of a successful request. Throws the Status of the shard otherwise. */
  ask(request: ShardRequest): Promise<ShardAnswer>
  /** Uses other credentials from now on; running requests complete. */
  use(access: ServerAccess): void
  readonly reach: Reach
  close(): Promise<void>
}

interface Open {
  readonly client: HttpClient
  readonly origin: string
}

/** A connection is taken for broken after so long without data: shards send a bookmark every minute. */
const longestSilence = 180_000

const open = (access: ServerAccess, patience: number): Open => ({
  client: createClient({
    tls: tlsOf(access),
    headers: { ...authorizationOf(access) },
    connectTimeout: Math.min(patience, 10_000),
    headersTimeout: patience,
    bodyTimeout: longestSilence,
    keepAlive: 4_000,
  }),
  origin: new URL(access.server).origin,
})

/**
 * Connects when it is first used. `log` gets one line when the shard cannot be used, and one when it can again.
 * `patience`: milliseconds until an answer begins.
 */
export function connectShard(access: ServerAccess, log: Logger, patience = 60_000): ShardConnection {
  let current = open(access, patience)
  const reach = createReach(() => current.origin, log)
  reach.presents(access.cert)
  const send = async (request: ShardRequest): Promise<ShardAnswer> => {
    try {
      const answer = await sent(current, request)
      reach.answered(answer.statusCode, request)
      if (answer.statusCode === 401) throw await refusal(answer)
      return answer
    } catch (error) {
      if (!request.signal.aborted) reach.failed(error)
      throw failureOf(error)
    }
  }
  return {
    send,
    async ask(request) {
      const answer = await send(request)
      if (answer.statusCode < 300) return answer
      throw statusError(answer.statusCode, await textOf(answer))
    },
    use(next) {
      const before = current
      current = open(next, patience)
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
  return badGateway('it does not know the credentials of this one')
}

const sent = ({ client, origin }: Open, request: ShardRequest): Promise<ShardAnswer> =>
  client.request({
    ...{ origin, path: request.target, method: request.method, signal: request.signal },
    headers: { ...common, ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  })

const common: HeaderMap = { accept: 'application/json', 'user-agent': 'oriel-virtual-workspaces' }

export async function textOf(answer: ShardAnswer): Promise<string> {
  try {
    return await answer.body.text()
  } catch (error) {
    throw failureOf(error)
  }
}

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
export function passWarnings({ record }: RequestContext, { headers }: ShardAnswer): void {
  for (const [, text = ''] of String(headers.warning ?? '').matchAll(warning))
    record.warn(Buffer.from(text.replace(/\\(.)/g, '$1'), 'latin1').toString())
}

/** What a shard is asked. */
export interface ShardRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query. */
  readonly target: string
  readonly headers?: HeaderMap
  readonly body?: string | Buffer
  readonly signal: AbortSignal
}
