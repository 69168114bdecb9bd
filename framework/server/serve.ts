import type { OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import { type Awaitable, after, attempt, type Readers } from '../async/awaitable.ts'
import { createLifetime, type Lifetime } from '../async/lifetime.ts'
import type { Auditor, RequestAudit } from '../audit/index.ts'
import type { Decision } from '../contract/authorizer.ts'
import type { DecisionDomain, Recorder, RequestContext } from '../contract/context.ts'
import type { Logger } from '../contract/log.ts'
import type { Forwarding, Upgrade } from '../contract/upstream.ts'
import type { Measured, Metrics } from '../metrics/metrics.ts'
import { type HttpRequest, type Incoming, type Reading, readRequest } from '../request/incoming.ts'
import type { Answer } from '../request/response.ts'
import { accountOf, type UserInfo } from '../request/user.ts'
import { failureAnswer, shuttingDown } from '../responses/failure.ts'
import { compressed } from '../responses/negotiation.ts'
import { Warnings } from '../responses/warnings.ts'
import type { ConnectionLimit } from './connections.ts'
import type { Answering } from './listener.ts'
import { giveUp, respond } from './respond.ts'
import type { Target } from './routes.ts'

/** One request and its state in the server. */
export interface Exchange {
  incoming: Incoming
  readonly lifetime: Lifetime
  readonly record: Recording
  /** The metrics of the request. */
  readonly measured: Measured
  /** Only if requests are audited. */
  readonly audit: RequestAudit | undefined
  /** The view of the URL. The pipeline sets it and the following, in this order. */
  target: Target | undefined
  user: UserInfo | undefined
  /** The authenticated user, where `user` is impersonated. */
  requestor: UserInfo | undefined
  ctx: RequestContext | undefined
}

/** Answers a request, without a promise if the answer is in memory. */
export type Handler = (exchange: Exchange) => Awaitable<Answer | Forwarding>

/** Shared by all requests. */
export interface Service extends Reading {
  readonly log: Logger
  readonly metrics: Metrics
  /** The timeout of requests that are not long-running, in milliseconds. */
  readonly requestTimeout: number
  /** The turns in which lists are written. */
  readonly slices?: Readers
  /** Counts the connections of accounts. */
  readonly connections?: ConnectionLimit
  readonly auditor?: Auditor
  /** Aborted when the server stops: later requests get 429. */
  readonly stopping: AbortSignal
}

/** Node's objects of one request. */
export interface Ends {
  readonly request: HttpRequest
  readonly response: ServerResponse
  readonly upgrade?: Upgrade
}

const viewPrefix = /^\/(clusters|services)\//

/**
 * Handles the requests of a port: those to views by `handler`, all others by `app`. A response to an upgrade request may only
 * come from a view that forwards it.
 */
export function answeringWith(service: Service, handler: Handler, app: RequestListener): Answering {
  const isView = ({ url = '' }: HttpRequest): boolean => viewPrefix.test(url)
  return {
    request: (request, response) => {
      if (isView(request)) void serve(service, { request, response }, handler)
      else app(request, response)
    },
    upgrade: (request, response, upgrade) => {
      if (isView(request)) void serve(service, { request, response, upgrade }, handler)
      else app(request, response)
    },
  }
}

/** Answers one request: reads it, calls its handler with the deadline, and writes the response. Never throws. */
export function serve(service: Service, ends: Ends, handler: Handler): Awaitable<void> {
  const exchange = open(service, ends.request)
  const answer = service.stopping.aborted ? shuttingDown : answerOf(exchange, ends, handler)
  return after(answer, found => deliver(service, ends, exchange, found))
}

function open(service: Service, request: HttpRequest): Exchange {
  const measured = service.metrics.begin(request.method ?? 'GET')
  const account = (): string => accountOf(exchange.user, exchange.requestor)
  const received = readRequest(request, service, measured, account)
  const lifetime = createLifetime(service.requestTimeout)
  const audit = service.auditor?.begin(received, request.socket.remoteAddress ?? '')
  const incoming = audit?.incoming ?? received
  // All members at once: members that are added later make every access to the object slower.
  const exchange: Exchange = {
    incoming,
    lifetime,
    record: createRecording(service.log, incoming, audit),
    measured,
    audit,
    target: undefined,
    user: undefined,
    requestor: undefined,
    ctx: undefined,
  }
  return exchange
}

/** The answer of the handler, or that for its error. */
const answerOf = (exchange: Exchange, ends: Ends, handler: Handler): Awaitable<Answer | Forwarding> =>
  attempt(
    () => {
      const answer = handler(exchange)
      return answer instanceof Promise ? unlessCutShort(exchange.lifetime, ends, answer) : answer
    },
    error => failed(exchange, error),
  )

function failed({ incoming, record, audit, target, ctx }: Exchange, thrown: unknown): Answer {
  const plugin = target?.workspace.plugin
  const error = plugin === undefined ? thrown : plugin.failure(thrown, ctx)
  audit?.failed(error)
  return failureAnswer(error, incoming, record.log)
}

/** Rejects early when the request ends, for example at the deadline. Watches that end without an error are not rejected. */
function unlessCutShort<T>(lifetime: Lifetime, ends: Ends, answer: Promise<T>): Promise<T> {
  awaitEnd(lifetime, ends)
  return new Promise((resolve, reject) => {
    answer.then(resolve, reject)
    lifetime.onEnd(failure => {
      if (!lifetime.endsWell()) reject(failure)
    })
  })
}

function awaitEnd(lifetime: Lifetime, { response }: Ends): void {
  if (lifetime.isAwaited) return
  response.once('close', () => lifetime.end('client gone'))
  lifetime.await()
}

/** Sends the answer, or an error before its first chunk; then ends metrics, audit and log of the request. */
function deliver(
  service: Service,
  ends: Ends,
  exchange: Exchange,
  answer: Answer | Forwarding,
): Awaitable<void> {
  service.connections?.belongs(ends.request, accountOf(exchange.user, exchange.requestor))
  const sent = attempt(
    () => handOver(service, ends, exchange, answer),
    error =>
      attempt(
        () => send(service, ends, exchange, failed(exchange, error)),
        failure => giveUp(ends.response, exchange.record.log, failure),
      ),
  )
  return after(sent, () => close(service, exchange, ends.response.statusCode))
}

function handOver(
  service: Service,
  ends: Ends,
  exchange: Exchange,
  answer: Answer | Forwarding,
): Awaitable<void> {
  const { lifetime } = exchange
  if (!('forward' in answer)) return send(service, ends, exchange, answer)
  awaitEnd(lifetime, ends)
  return answer.forward({ ...ends, lifetime })
}

function send(service: Service, ends: Ends, exchange: Exchange, answer: Answer): Awaitable<void> {
  if (!Buffer.isBuffer(answer.body)) awaitEnd(exchange.lifetime, ends)
  const encoded = compressed(exchange.audit?.answering(answer) ?? answer, exchange.incoming)
  return after(encoded, ready => write(service, ends, exchange, ready))
}

function write(
  service: Service,
  { response }: Ends,
  exchange: Exchange,
  answer: Answer,
): void | Promise<void> {
  const { incoming, measured, lifetime } = exchange
  const headers = commonHeaders(exchange)
  // HTTP/2 has no such header: `drain` closes the sessions.
  if (service.stopping.aborted && !('stream' in response)) headers.connection = 'close'
  const isHead = incoming.method === 'HEAD'
  const { slices } = service
  return respond(response, { answer, headers, isHead, sent: measured, ...(slices && { slices }) }, lifetime)
}

function close(service: Service, exchange: Exchange, code: number): void {
  exchange.lifetime.dispose()
  exchange.measured.end(code)
  exchange.audit?.close(code)
  logRequest(service.log, exchange, code)
}

/** The headers of every response: those of the audit log and of caches, and warnings. */
export function commonHeaders({ incoming, record }: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'audit-id': incoming.auditId,
    'cache-control': 'no-cache, private',
  }
  const warnings = record.warnings()
  if (warnings.length > 0) headers.Warning = [...warnings]
  return headers
}

function logRequest(log: Logger, exchange: Exchange, code: number): void {
  if (!log.isLevelEnabled('debug')) return
  const { incoming, record, measured } = exchange
  const milliseconds = performance.now() - measured.since
  const { auditId: audit, method, path } = incoming
  log.debug(
    { audit, ...routeOf(exchange), method, path, code, milliseconds, ...record.annotations() },
    'request',
  )
}

/** The view, verb and logical cluster; nothing for a request that was refused before. */
function routeOf({ target, ctx }: Exchange): object {
  if (target === undefined) return {}
  const { workspace, info, cluster } = target
  return {
    ...(workspace.name && { view: workspace.name }),
    verb: info.verb,
    cluster: ctx?.cluster ?? cluster,
  }
}

/** The warnings and annotations of one request, for the response's headers and the log. */
export interface Recording extends Recorder {
  /** The values of the `Warning` headers, in the order of their first appearance. */
  warnings(): readonly string[]
  annotations(): Readonly<Record<string, string>>
}

/** The part of the audit log that records decisions. */
type DecisionRecorder = Pick<Required<Recorder>, 'decided'>

/** `log`: the server's logger. Lines of the request have its audit ID. */
export const createRecording = (
  log: Logger,
  request: { readonly auditId: string },
  audit?: DecisionRecorder,
): Recording => new RequestRecording(log, request, audit)

/** A class, because closures would be allocated for each request. */
class RequestRecording implements Recording {
  readonly #serverLog: Logger
  readonly #request: { readonly auditId: string }
  readonly #audit: DecisionRecorder | undefined
  /** Made on first use: most requests log nothing. */
  #log: Logger | undefined
  #warnings: Warnings | undefined
  #annotations: Record<string, string> | undefined

  constructor(log: Logger, request: { readonly auditId: string }, audit: DecisionRecorder | undefined) {
    this.#serverLog = log
    this.#request = request
    this.#audit = audit
  }

  get log(): Logger {
    this.#log ??= this.#serverLog.child({ audit: this.#request.auditId })
    return this.#log
  }

  warn(text: string): void {
    this.#warnings ??= new Warnings()
    this.#warnings.add(text)
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= {}
    this.#annotations[key] = value
  }

  decided(domain: DecisionDomain, decision: Decision): void {
    this.#audit?.decided(domain, decision)
  }

  warnings(): readonly string[] {
    return this.#warnings?.headers() ?? none
  }

  annotations(): Readonly<Record<string, string>> {
    return this.#annotations ?? {}
  }
}

const none: readonly string[] = []
