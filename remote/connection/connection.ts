import { Agent, type Dispatcher } from 'undici'
import { unlessAborted } from '../../framework/async/streams.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { expired, type Status, StatusError } from '../../framework/meta/errors.ts'
import { badGateway, failureOf, isStaleConnection } from '../../framework/net/failure.ts'
import type { Fields } from '../../framework/net/headers.ts'
import { authorizationOf, type ServerAccess, tlsOf } from '../../framework/net/serveraccess.ts'
import { createReach, type Reach } from './reach.ts'
import type { ShardRequest } from './request.ts'

export type ShardAnswer = Dispatcher.ResponseData

/** The way to a shard, with credentials that may do everything there. */
export interface ShardConnection {
  /** The answer, whatever its code. Throws a `StatusError` when there is none. */
  send(request: ShardRequest): Promise<ShardAnswer>
  /** The answer, unless it is an error: that is thrown, as the shard said it. */
  ask(request: ShardRequest): Promise<ShardAnswer>
  /** From now on with these; answers under way are read to their end. */
  use(access: ServerAccess): void
  readonly reach: Reach
  close(): Promise<void>
}

interface Open {
  readonly agent: Agent
  readonly origin: string
  readonly headers: Fields
}

/** Silence for so long is a connection that has died without a word: shards send a bookmark every minute. */
const longestSilence = 180_000

function open(access: ServerAccess, patience: number): Open {
  return {
    agent: new Agent({
      connect: { ...tlsOf(access), timeout: Math.min(patience, 10_000) },
      headersTimeout: patience,
      keepAliveMaxTimeout: 4_000,
    }),
    origin: new URL(access.server).origin,
    headers: { ...authorizationOf(access) },
  }
}

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
      const answer = await unlessAborted(request.signal, dispatch(current, request))
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
      void before.agent.close()
    },
    reach,
    close: () => current.agent.destroy(),
  }
}

/** It is this process that the shard does not know: whoever asks this process has done nothing wrong. */
async function refusal({ body }: ShardAnswer): Promise<StatusError> {
  await body.dump()
  return badGateway('it does not know the credentials of this one')
}

/** What only reads is asked once more when a kept connection turns out to be closed. */
async function dispatch(through: Open, request: ShardRequest): Promise<ShardAnswer> {
  try {
    return await once(through, request)
  } catch (error) {
    if (request.method !== 'GET' || request.signal.aborted || !isStaleConnection(error)) throw error
    return once(through, request)
  }
}

const once = ({ agent, origin, headers }: Open, request: ShardRequest): Promise<ShardAnswer> =>
  agent.request({
    origin,
    path: request.target,
    method: request.method,
    headers: { ...common, ...request.headers, ...headers } as Record<string, string | string[]>,
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: request.signal,
    bodyTimeout: longestSilence,
  })

const common: Fields = { accept: 'application/json', 'user-agent': 'oriel-virtual-workspaces' }

export async function textOf(answer: ShardAnswer): Promise<string> {
  try {
    return await answer.body.text()
  } catch (error) {
    throw failureOf(error)
  }
}

/** The Status that a server answers with; what is none keeps its code. */
export function statusError(code: number, text: string): StatusError {
  try {
    const { reason = '', message = text, details, metadata } = JSON.parse(text) as Partial<Status>
    if (code === 410 && reason === 'Expired') return expired(message, metadata?.continue)
    return new StatusError(code, reason, message, details)
  } catch {
    return new StatusError(code, '', text.slice(0, 200).trim())
  }
}
