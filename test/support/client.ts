import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { createInterface } from 'node:readline'
import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeObject } from '../../framework/index.ts'

/** A response as received. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** The body as JSON; fails the test for other bodies. */
  json<T = Answered>(): T
}

/** The fields that tests read of JSON responses. */
export interface Answered extends Partial<KubeObject> {
  readonly metadata: KubeObject['metadata'] & {
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items?: readonly KubeObject[]
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly causes?: readonly {
      readonly reason?: string
      readonly message?: string
      readonly field?: string
    }[]
  }
}

/** The body, headers and method of a request: an object is sent as JSON; a path is sent exactly as written. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer | object
}

/** One line of a watch. */
export interface Frame {
  readonly type: string
  readonly object: Answered
}

export interface Stream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The next event; undefined after the clean end of the response. Rejects when it is truncated. */
  next(): Promise<Frame | undefined>
  leave(): void
}

/** Raw HTTP/1.1 requests with one user's credentials, below one URL. */
export interface Client {
  (path: string, sent?: Sent): Promise<Reply>
  watch(path: string, sent?: Sent): Promise<Stream>
  /** A response whose body is not read yet. */
  open(path: string, sent?: Sent): Promise<IncomingMessage>
  /** The same credentials below another URL. */
  at(url: string): Client
  /** Closes idle connections. */
  close(): void
}

export async function clientOf(config: KubeConfig): Promise<Client> {
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const agent = new Agent({ keepAlive: true })
  return clientAt(config.getCurrentCluster()?.server ?? '', { ...options, agent })
}

function clientAt(base: string, options: RequestOptions): Client {
  const send = async (path: string, sent: Sent = {}): Promise<Reply> =>
    readReply(await open(`${base}${path}`, options, sent))
  return Object.assign(send, {
    watch: async (path: string, sent: Sent = {}) => streamOf(await open(`${base}${path}`, options, sent)),
    open: (path: string, sent: Sent = {}) => open(`${base}${path}`, options, sent),
    at: (url: string) => clientAt(url, options),
    close: () => (options.agent as Agent).destroy(),
  })
}

async function open(url: string, options: RequestOptions, sent: Sent): Promise<IncomingMessage> {
  const { origin } = new URL(url)
  const { method = 'GET', body } = sent
  const isText = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
  const bytes = Buffer.from(isText ? (body ?? '') : JSON.stringify(body))
  const isChunked = sent.headers?.['transfer-encoding'] !== undefined
  const headers = {
    ...options.headers,
    ...(bytes.length > 0 && !isChunked && { 'content-length': bytes.length }),
    ...sent.headers,
  }
  const call = request(origin, {
    ...options,
    method,
    path: url.slice(origin.length) || '/',
    headers,
  } as RequestOptions)
  // The first error is that of `once`, or of the reader of the response: a connection that is reset can have another one.
  call.on('error', () => undefined)
  call.end(bytes)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return response
}

/** Reads a response to its end. Rejects when it is truncated. */
export async function readReply(response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: <T>() => JSON.parse(text) as T,
  }
}

function streamOf(response: IncomingMessage): Stream {
  const lines = createInterface({ input: response })[Symbol.asyncIterator]()
  let failure: Error | undefined
  response.on('error', error => {
    failure = error
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: async () => {
      const { done, value } = await lines.next()
      if (!done) return JSON.parse(value) as Frame
      if (failure !== undefined || !response.complete) throw failure ?? new Error('the answer was cut off')
      return undefined
    },
    leave: () => response.destroy(),
  }
}
