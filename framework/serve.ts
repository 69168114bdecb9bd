import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Auditor, RequestAudit } from './audit/index.ts'
import { compressed } from './compress.ts'
import type { Answer } from './exchange.ts'
import { failureAnswer } from './failure.ts'
import { text } from './health.ts'
import { type HttpRequest, type Incoming, type IsIdentity, readRequest } from './incoming.ts'
import { createLifetime, type Lifetime } from './lifetime.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Passage, Upgrade } from './passage.ts'
import { createRecording, type Recording } from './recorder.ts'
import type { ResourceRequest } from './requestinfo.ts'
import { respond } from './respond.ts'

/** One request on its way through the server. */
export interface Exchange {
  readonly incoming: Incoming
  readonly lifetime: Lifetime
  readonly record: Recording
  /** Only where requests are audited. */
  readonly audit?: RequestAudit
  /** Called when the request turns out to be for a resource that is served: it is then measured as such. */
  serves(resource: ResourceRequest): void
  /** Calls `handler` when the answer is out, however it ended. */
  finally(handler: () => void): void
}

export type Handler = (exchange: Exchange) => Promise<Answer | Passage>

/** What all requests share. */
export interface Service {
  readonly log: Logger
  readonly metrics: Metrics
  /** Milliseconds that a request may take which is not long-running. */
  readonly requestTimeout: number
  readonly auditor?: Auditor
  isStopping(): boolean
  readonly isIdentityHeader?: IsIdentity
}

/** The two ends of one request, as Node has them. */
export interface Ends {
  readonly request: HttpRequest
  readonly response: ServerResponse
  readonly upgrade?: Upgrade
}

/** Answers one request: reads it, runs its handler against the deadline, and writes what comes out. Never throws. */
export async function serve(service: Service, ends: Ends, handler: Handler): Promise<void> {
  const { request, response } = ends
  const exchange = open(service, request)
  response.once('close', () => exchange.lifetime.end('client gone'))
  try {
    const answer = service.isStopping() ? stopping : await answerOf(exchange, handler)
    if ('pass' in answer) await answer.pass({ ...ends, lifetime: exchange.lifetime })
    else await send(service, exchange, response, answer)
  } catch (error) {
    // The stream failed before its first chunk: the client can still be told.
    await send(service, exchange, response, failed(exchange, error))
  }
  exchange.close(response.statusCode)
}

interface OpenExchange extends Exchange {
  resource(): ResourceRequest | undefined
  close(code: number): void
}

function open(service: Service, request: HttpRequest): OpenExchange {
  const received = readRequest(request, service.isIdentityHeader)
  const audit = service.auditor?.begin(received, request.socket.remoteAddress ?? '')
  const incoming = audit?.incoming ?? received
  const lifetime = createLifetime()
  lifetime.limit(service.requestTimeout)
  const record = createRecording(() => service.log.child({ audit: incoming.auditId }), audit)
  const started = { method: incoming.method, since: performance.now() }
  let resource: ResourceRequest | undefined
  let ended: ((code: number) => void) | undefined
  let last: (() => void) | undefined
  return {
    incoming,
    lifetime,
    record,
    ...(audit && { audit }),
    resource: () => resource,
    serves: found => {
      resource = found
      ended = service.metrics.started({ ...started, resource: found })
    },
    finally: handler => {
      const before = last
      last = () => {
        before?.()
        handler()
      }
    },
    close: code => {
      last?.()
      lifetime.dispose()
      ended ??= service.metrics.started(started)
      ended(code)
      audit?.close(code)
      logRequest(service.log, { incoming, record, since: started.since, code })
    },
  }
}

/** What the handler answers, or what its failure is to the client. */
async function answerOf(exchange: Exchange, handler: Handler): Promise<Answer | Passage> {
  try {
    return await unlessCutShort(exchange.lifetime, handler(exchange))
  } catch (error) {
    return failed(exchange, error)
  }
}

function failed({ incoming, record, audit }: Exchange, error: unknown): Answer {
  audit?.failed(error)
  return failureAnswer(error, incoming, record.log)
}

/** Rejects early when the request is not to be waited for any more. What may end well is left to end by itself. */
const unlessCutShort = <T>(lifetime: Lifetime, answer: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    answer.then(resolve, reject)
    lifetime.onEnd(failure => {
      if (!lifetime.endsWell()) reject(failure)
    })
  })

async function send(
  service: Service,
  exchange: OpenExchange,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  const resource = exchange.resource()
  const headers = commonHeaders(exchange)
  const encoded = await compressed(exchange.audit?.answering(answer) ?? answer, exchange.incoming)
  // HTTP/2 has no such header: there the session is told to close.
  if (service.isStopping() && !('stream' in response)) headers.connection = 'close'
  const reply = { answer: encoded, headers, isHead: exchange.incoming.method === 'HEAD' }
  const counted = (chunk: Buffer): void => {
    if (resource?.verb === 'watch') service.metrics.watchEvents(resource, linesIn(chunk))
  }
  await respond(response, { ...reply, sent: counted }, exchange.lifetime)
}

function commonHeaders({ incoming, record }: Exchange): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'audit-id': incoming.auditId,
    'cache-control': 'no-cache, private',
  }
  const warnings = record.warnings()
  if (warnings.length > 0) headers.Warning = [...warnings]
  return headers
}

const stopping: Answer = {
  ...text(429, 'The apiserver is shutting down, please try again later.'),
  headers: { 'Retry-After': '5', 'X-Content-Type-Options': 'nosniff' },
}

const lineCounts = new WeakMap<Buffer, number>()

/** One event is one line. Counted once for all watchers that share the chunk. */
function linesIn(chunk: Buffer): number {
  const known = lineCounts.get(chunk)
  if (known !== undefined) return known
  let count = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++
  lineCounts.set(chunk, count)
  return count
}

interface Ended {
  readonly incoming: Incoming
  readonly record: Recording
  readonly since: number
  readonly code: number
}

function logRequest(log: Logger, { incoming, record, since, code }: Ended): void {
  const milliseconds = performance.now() - since
  const { auditId: audit, method, path } = incoming
  log.debug({ audit, method, path, code, milliseconds, ...record.annotations() }, 'request')
}
