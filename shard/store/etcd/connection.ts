import { setMaxListeners } from 'node:events'
import {
  ChannelCredentials,
  Client,
  type ClientDuplexStream,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { StoreError } from '../store.ts'
import { EtcdFailure, failureOf, isOldToken, isTimeout, isTransient } from './failures.ts'
import { decodeAuthenticate, decodeWatch, encodeAuthenticate, type WatchResponse } from './messages.ts'
import { type EtcdTls, PresentCertificates } from './presentcertificates.ts'

/** How to authenticate at etcd, and the authorities that have issued its certificates. */
export interface EtcdCredentials {
  /** Absent: without TLS. */
  readonly tls?: EtcdTls
  readonly user?: { readonly name: string; readonly password: string }
}

/** Where etcd is, and how to authenticate there. */
export interface EtcdAccess {
  /** `host:port` of the members. */
  readonly endpoints: readonly string[]
  /** Asked for each new connection and for each new token. Absent: without TLS and without a user. */
  readonly credentials?: () => EtcdCredentials
  /** Milliseconds for all attempts of a call; default: 10 s, because an election of etcd takes one or two. */
  readonly patience?: number
}

/** One unary method of etcd's API. */
export interface EtcdCall<T> {
  /** `/etcdserverpb.KV/Range` */
  readonly path: string
  readonly request: Buffer
  readonly decode: (response: Buffer) => T
  /** The request of another attempt; default: the same. Called when an attempt failed that may still be executed. */
  readonly again?: () => Promise<Buffer>
}

/** The response, and whether an earlier attempt of the same call may have been executed, too. */
export interface EtcdAnswer<T> {
  readonly response: T
  readonly isRepeated: boolean
}

export type EtcdWatch = ClientDuplexStream<Buffer, WatchResponse>

const defaultPatience = 10_000
/** The part of the patience for one attempt: the next member is asked after it. */
const attemptPart = 0.4
/** Milliseconds between two attempts. */
const pause = 100

// etcd closes connections with pings more frequent than every 5 seconds.
const channelOptions = {
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_http_proxy': 0,
}

const same = (bytes: Buffer): Buffer => bytes

/** Every watch listens. */
function newSignalSource(): AbortController {
  const source = new AbortController()
  setMaxListeners(0, source.signal)
  return source
}

async function metadataWith(token: Promise<string> | undefined): Promise<Metadata> {
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('token', await token)
  return metadata
}

/** A connection to the members of one etcd: calls use one member until it fails, then the next. */
export class EtcdConnection {
  readonly #access: EtcdAccess
  readonly #clients: readonly Client[]
  #member = 0
  /** Aborts when calls leave the present member. */
  #left = newSignalSource()
  #token: Promise<string> | undefined
  /** Whether etcd has accepted the user. */
  #wasAccepted = false

  constructor(access: EtcdAccess) {
    this.#access = access
    const credentials =
      this.#credentials.tls === undefined
        ? ChannelCredentials.createInsecure()
        : new PresentCertificates(() => this.#credentials.tls ?? {})
    this.#clients = access.endpoints.map(endpoint => new Client(endpoint, credentials, channelOptions))
  }

  /**
   * Repeats a call at the other members while etcd is not available. Throws the last `EtcdFailure` that names more than a timeout,
   * and what `again` throws of `StoreError`.
   */
  async call<T>(call: EtcdCall<T>): Promise<EtcdAnswer<T>> {
    const end = performance.now() + this.#patience
    let current = call
    let reason: EtcdFailure | undefined
    for (let isRepeated = false; ; isRepeated = true) {
      const member = this.#member
      try {
        if (isRepeated && call.again) current = { ...call, request: await call.again() }
        return { response: await this.#attempt(current, end), isRepeated }
      } catch (error) {
        if (error instanceof StoreError) throw error
        const failure = failureOf(error)
        reason = isTimeout(failure) && reason !== undefined && isTransient(reason) ? reason : failure
        if (!this.#isWorthRepeating(failure) || performance.now() + pause >= end) throw reason
        this.leave(member)
        await new Promise(resolve => setTimeout(resolve, pause))
      }
    }
  }

  /**
   * Opens a stream of `/etcdserverpb.Watch/Watch` at the present member; it fails when that member has no leader. `left` aborts
   * when calls leave the member: its connections may stay open for nine seconds without an event.
   */
  async watch(): Promise<{
    readonly stream: EtcdWatch
    readonly member: number
    readonly left: AbortSignal
  }> {
    const metadata = await metadataWith(this.#currentToken())
    metadata.set('hasleader', 'true')
    const member = this.#member
    const left = this.#left.signal
    const path = '/etcdserverpb.Watch/Watch'
    const stream = this.#client.makeBidiStreamRequest(path, same, decodeWatch, metadata)
    return { stream, member, left }
  }

  /** Uses another member than `member` for the following calls, and another token. */
  leave(member: number): void {
    if (member !== this.#member || this.#clients.length === 1) return
    this.#member = (member + 1) % this.#clients.length
    this.#left.abort()
    this.#left = newSignalSource()
  }

  /** Asks for a new token before the next call. */
  forgetToken(): void {
    this.#token = undefined
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  get #credentials(): EtcdCredentials {
    return this.#access.credentials?.() ?? {}
  }

  get #patience(): number {
    return this.#access.patience ?? defaultPatience
  }

  get #longestAttempt(): number {
    return this.#patience * attemptPart
  }

  get #client(): Client {
    return this.#clients[this.#member] as Client
  }

  #isWorthRepeating(failure: EtcdFailure): boolean {
    return isTransient(failure) || (isOldToken(failure) && this.#credentials.user !== undefined)
  }

  async #attempt<T>(call: EtcdCall<T>, end: number): Promise<T> {
    const token = this.#currentToken()
    try {
      return await this.#send(call, await metadataWith(token), end)
    } catch (error) {
      // Other calls with the same token may have asked for the next one already.
      if (isOldToken(failureOf(error)) && token === this.#token) this.forgetToken()
      throw error
    }
  }

  #currentToken(): Promise<string> | undefined {
    const { user } = this.#credentials
    if (user === undefined) return undefined
    this.#token ??= this.#authenticate(user).catch(error => {
      this.#token = undefined
      const { code, message } = failureOf(error)
      // A password that etcd has accepted before is being changed, in etcd or in its file.
      throw this.#wasAccepted && code === status.INVALID_ARGUMENT
        ? new EtcdFailure(status.UNAVAILABLE, message)
        : error
    })
    return this.#token
  }

  async #authenticate(user: NonNullable<EtcdCredentials['user']>): Promise<string> {
    const path = '/etcdserverpb.Auth/Authenticate'
    const call = { path, request: encodeAuthenticate(user), decode: decodeAuthenticate }
    const token = await this.#send(call, new Metadata(), performance.now() + this.#longestAttempt)
    this.#wasAccepted = true
    return token
  }

  #send<T>({ path, request, decode }: EtcdCall<T>, metadata: Metadata, end: number): Promise<T> {
    const deadline = Date.now() + Math.min(end - performance.now(), this.#longestAttempt)
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, response?: T): void =>
        error === null ? resolve(response as T) : reject(error)
      this.#client.makeUnaryRequest(path, same, decode, request, metadata, { deadline }, done)
    })
  }
}
