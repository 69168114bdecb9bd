import { constants } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { type ConnectionOptions, createSecureContext, DEFAULT_CIPHERS } from 'node:tls'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { unlessAborted } from '../async/awaitable.ts'
import { laterTurn } from '../async/turn.ts'
import { closing, isStaleConnection } from './failure.ts'
import type { HeaderMap } from './headers.ts'
import { countInformational } from './informational.ts'
import { lookupOnce } from './lookups.ts'

/** PEM. Without `ca` the certificate authorities of the operating system are trusted. */
export type ClientTls = Readonly<
  Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'allowPartialTrustChain'>
>

/**
 * As in Go (`crypto/tls`): no key exchange in a group that the server makes, which takes 0.2 seconds of the event loop with 8,192
 * bits, and no further one in a connection.
 */
const handshakes: Pick<ConnectionOptions, 'ciphers' | 'secureOptions'> = {
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
}

/** The same, for many connections: reading the certificates for each takes most of its time. Throws for certificates that are not valid. */
export const withContext = (tls: ClientTls): ClientTls & Pick<ConnectionOptions, 'secureContext'> => ({
  ...tls,
  secureContext: createSecureContext({ ...tls, ...handshakes }),
})

/** Times are in milliseconds. */
export interface HttpClientOptions {
  readonly tls?: ClientTls
  /** The Unix socket of the server, instead of host and port. */
  readonly socketPath?: string
  /** The address policy: resolves host names to the addresses that may be reached. Default: all, in one lookup at a time of each name. */
  readonly lookup?: LookupFunction
  /** Sent with every request, for example credentials. */
  readonly headers?: HeaderMap
  /** Until a connection is open; default 10 s. */
  readonly connectTimeout?: number
  /** Until the head of a response; default 30 s. */
  readonly headersTimeout?: number
  /** Bytes of the head of a response; default: Node's 16 KiB. */
  readonly mostHead?: number
  /** Between two parts of a body; default 0, no limit. */
  readonly bodyTimeout?: number
  /** Longest time for which an idle connection is kept; 0: each request has its own connection. Default: undici's. */
  readonly keepAlive?: number
  /** Connections at a time; default: no limit. */
  readonly connections?: number
}

/** Bytes of the head of a response of a shard: a webhook of a tenant can add 4,096 warnings of one character. */
export const mostHeadOfShard = 256 * 1024

/** A request of this server to another one. */
export interface OutgoingRequest {
  readonly method?: Dispatcher.HttpMethod
  /** `https://host:port` */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  readonly headers?: HeaderMap
  /** A stream is sent in chunks unless `headers` have its length, and with a method other than GET. */
  readonly body?: string | Buffer | Readable
  readonly signal: AbortSignal
}

/** The head of a response and its body, which is read, dumped or destroyed by the caller. */
export type OutgoingResponse = Dispatcher.ResponseData

/** Connections with one set of TLS credentials. Redirects are not followed. */
export interface HttpClient {
  /**
   * Rejects with the error of the connection, see `failureOf`, or with the reason of the signal. A GET is sent again, once,
   * when a kept connection turns out to be closed.
   */
  request(request: OutgoingRequest): Promise<OutgoingResponse>
  /** For requests whose bodies are streamed, see `forward`. */
  dispatcher(): Promise<Dispatcher>
  readonly isClosed: boolean
  /** Running requests complete. */
  close(): Promise<void>
  /** Running requests are aborted. */
  destroy(): Promise<void>
}

/** The one client for requests that this server makes itself. undici is loaded with the first request. */
export const createClient = (options: HttpClientOptions): HttpClient => new UndiciClient(options)

class UndiciClient implements HttpClient {
  readonly #options: HttpClientOptions
  #agent: Promise<Agent> | undefined
  #isClosed = false

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  dispatcher(): Promise<Agent> {
    this.#agent ??= open(this.#options)
    return this.#agent
  }

  async request(request: OutgoingRequest): Promise<OutgoingResponse> {
    const { signal, method = 'GET' } = request
    try {
      return await this.#once(request)
    } catch (error) {
      if (method !== 'GET' || signal.aborted || !isStaleConnection(error)) throw error
      return this.#once(request)
    }
  }

  async #once({ method = 'GET', origin, path, headers, body, signal }: OutgoingRequest) {
    const agent = await this.dispatcher()
    const sent = agent.request({
      origin,
      path,
      method,
      signal,
      onInfo: countInformational(),
      headers: { ...headers, ...this.#options.headers } as Record<string, string | string[]>,
      ...(body === undefined ? {} : { body }),
    })
    return unlessAborted(signal, sent)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#agent)?.close()
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    await (await this.#agent)?.destroy()
  }
}

/** Characters of certificates in PEM, about ten, that are read in a millisecond. */
const certificatesOfStep = 16 * 1024

async function open(options: HttpClientOptions): Promise<Agent> {
  const { tls, socketPath, lookup = lookupOnce(), keepAlive, connections } = options
  const { Agent, buildConnector, Pool } = await import('undici')
  // One write may call many webhooks, each with many certificates, which are read in one step.
  if (typeof tls?.ca === 'string' && tls.ca.length > certificatesOfStep) await laterTurn()
  const secure = tls === undefined ? handshakes : withContext(tls)
  const connector = (): buildConnector.connector =>
    buildConnector({
      ...secure,
      ...(socketPath !== undefined && { socketPath }),
      lookup,
      timeout: options.connectTimeout ?? 10_000,
    })
  return new Agent({
    // A connector for each pool: it keeps TLS sessions, with which an expired certificate is not noticed.
    factory: (origin, pooled) => new Pool(origin, { ...pooled, connect: withoutReconnecting(connector()) }),
    ...(options.mostHead !== undefined && { maxHeaderSize: options.mostHead }),
    headersTimeout: options.headersTimeout ?? 30_000,
    bodyTimeout: options.bodyTimeout ?? 0,
    ...(keepAlive === 0 && { pipelining: 0 }),
    ...(keepAlive && { keepAliveMaxTimeout: keepAlive }),
    ...(connections !== undefined && { connections }),
  })
}

/**
 * Sockets whose requests are not sent again when they are aborted. undici closes the connection of an aborted request with an error
 * after which it sends the requests behind it again, and does not find out that there are none before it has opened a new connection
 * (`onHttpSocketClose` in `lib/dispatcher/client-h1.js`). Connections here have one request at a time.
 */
const withoutReconnecting =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, done) =>
    connect(options, (...[error, socket]) => {
      if (socket === null || error !== null) return done(error as Error, null)
      const { destroy } = socket
      socket.destroy = reason => destroy.call(socket, isAbort(reason) ? aborted : reason)
      done(null, socket)
    })

const aborted = closing('aborted')

const isAbort = (reason: (Error & { readonly code?: string }) | undefined): boolean =>
  reason?.code === 'UND_ERR_INFO' && reason.message === 'aborted'
