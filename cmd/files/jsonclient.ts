import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http'
import { Agent, request as requestTls } from 'node:https'
import { formatJson } from '../../framework/json/json.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'

export interface JsonAnswer {
  readonly status: number
  /** undefined when the body is no JSON. */
  readonly body: unknown
}

export interface JsonRequest {
  /** POST with it; GET without. */
  readonly body?: unknown
  /** Default: JSON of whatever kind. */
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** Sends JSON to one server, and reads JSON. Follows no redirects: the answer would not be the server's. */
export type JsonClient = (path: string, sent?: JsonRequest) => Promise<JsonAnswer>

/** Milliseconds. */
const timeout = 30_000
/** Larger answers are refused, in bytes. */
const limit = 32 * 1024 * 1024

/** Connections are kept for the next request. Rejects with an `Error` when there is no whole answer. */
export function jsonClient({ server, ca, cert, key, token, insecure }: ServerAccess): JsonClient {
  const url = new URL(server)
  const tls = { ca, cert, key, rejectUnauthorized: insecure !== true }
  const agent =
    url.protocol === 'https:'
      ? { agent: new Agent({ keepAlive: true, maxSockets: 16, ...defined(tls) }) }
      : {}
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  return async (path, { body, accept = 'application/json', signal } = {}) => {
    const sent = body === undefined ? undefined : Buffer.from(formatJson(body))
    const options: RequestOptions = {
      ...agent,
      method: sent === undefined ? 'GET' : 'POST',
      headers: { accept, ...headersFor(token, sent) },
      signal: AbortSignal.any([AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])]),
    }
    const call = send(`${url.href.replace(/\/+$/, '')}${path}`, options)
    call.end(sent)
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, body: jsonIn(await bodyOf(response)) }
  }
}

const headersFor = (
  token: string | undefined,
  sent: Buffer | undefined,
): Record<string, string | number> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': sent.length }),
})

const defined = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new Error(`the answer is longer than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
