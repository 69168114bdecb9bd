import { AsyncLocalStorage } from 'node:async_hooks'
import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import type { Measured, Metrics } from '../metrics/metrics.ts'
import type { ResourceRequest } from '../request/requestinfo.ts'
import {
  formatTraceParent,
  isChosen,
  newSpanId,
  newTraceId,
  parseTraceParent,
  type Span,
  type SpanSink,
} from './span.ts'

/** What a trace needs to know of a request. */
export interface TracedRequest {
  readonly measured: Measured
  /** The header `traceparent`. */
  readonly parent: string | undefined
  /** Whether the sampling decision of the caller counts. Read when it is needed: the user is known later. */
  readonly isTrusted: () => boolean
  /** Whether the response may last for as long as the client wants. Read when the response has started. */
  readonly isHeld: () => boolean
  /** The name and the attributes of the span of the request. Read at its end. */
  readonly describe: () => Pick<Span, 'name' | 'attributes'>
}

/** The trace of a request in progress, and the span whose work is done. */
interface Position {
  readonly traceId: string
  readonly spanId: string
  readonly spans: Span[]
  readonly isSampled: () => boolean
}

const contextOf = (position: Position): string =>
  formatTraceParent({ ...position, isSampled: position.isSampled() })

/** The most spans of one request; watches and retries may have more. */
const most = 200

/**
 * Traces of requests: a span for the request, one for each step, and one for each request to the shard, to which the context is
 * passed on (W3C Trace Context). A request is sampled by the identifier of its trace, or by the caller's decision if the caller is
 * privileged (`k8s.io/component-base/tracing`).
 */
export class Tracing {
  readonly #sink: SpanSink
  readonly #perMillion: number
  readonly #positions = new AsyncLocalStorage<Position>()
  /** Requests with a position that are not complete; of those with a held response, that have not started it. */
  #open = 0

  constructor(sink: SpanSink, samplingRatePerMillion: number) {
    this.#sink = sink
    this.#perMillion = samplingRatePerMillion
  }

  /** Metrics that also tell when the response of a request is complete. */
  measuring(metrics: Metrics): Metrics {
    return {
      begin: method => new TracedMeasured(metrics.begin(method)),
      meter: definition => metrics.meter(definition),
      text: () => metrics.text(),
    }
  }

  /** Answers a request, and ends its span when the response is complete. Nothing is kept of a request that cannot be sampled. */
  request<T>(request: TracedRequest, work: () => T): T {
    const parent = parseTraceParent(request.parent)
    const traceId = parent?.traceId ?? newTraceId()
    if (parent === undefined && !isChosen(traceId, this.#perMillion)) return work()
    const position: Position = {
      traceId,
      spanId: newSpanId(),
      spans: [],
      isSampled: () =>
        isChosen(traceId, this.#perMillion) || (parent?.isSampled === true && request.isTrusted()),
    }
    if (!(request.measured instanceof TracedMeasured)) return this.#positions.run(position, work)
    const close = this.#follow(request, request.measured, position, parent)
    const started = this.#positions.run(position, work)
    const closeHeld = (): void => (request.isHeld() ? close() : undefined)
    if (started instanceof Promise) started.then(closeHeld, closeHeld)
    return started
  }

  /** Ends the span when the response is complete. Returns what closes the position of the request. */
  #follow(
    request: TracedRequest,
    measured: TracedMeasured,
    position: Position,
    parent: ReturnType<typeof parseTraceParent>,
  ): () => void {
    const close = this.#opened()
    measured.completed = code => {
      this.#complete(request, position, { parent: parent?.spanId ?? '', code })
      close()
    }
    return close
  }

  /** Before version 24, Node calls hooks for each promise of the process while the storage is enabled. */
  #opened(): () => void {
    let isOpen = true
    this.#open++
    return () => {
      if (isOpen && --this.#open === 0) this.#positions.disable()
      isOpen = false
    }
  }

  #complete(
    request: TracedRequest,
    position: Position,
    { parent, code }: { parent: string; code: number },
  ): void {
    if (!position.isSampled()) return
    const { name, attributes } = request.describe()
    const root: Span = {
      traceId: position.traceId,
      spanId: position.spanId,
      parentId: parent,
      name,
      kind: 'server',
      start: performance.timeOrigin + request.measured.since,
      end: performance.timeOrigin + performance.now(),
      attributes: { ...attributes, 'http.response.status_code': code },
      ...(code >= 500 && { failure: `status ${code}` }),
    }
    this.#sink.add([root, ...position.spans])
  }

  /** Does a step of the request in progress. */
  step<T>(name: string, work: () => Awaitable<T>): Awaitable<T> {
    return this.#within(name, 'internal', work)
  }

  /** Sends a request to another server, with the header that passes the context on. */
  hop<T>(name: string, work: (headers: Readonly<Record<string, string>>) => Promise<T>): Awaitable<T> {
    return this.#within(name, 'client', position =>
      work(position === undefined ? {} : { traceparent: contextOf(position) }),
    )
  }

  /** The header that passes the context of the request in progress on; none outside of a request. */
  headers(): Readonly<Record<string, string>> {
    const position = this.#positions.getStore()
    return position === undefined ? {} : { traceparent: contextOf(position) }
  }

  #within<T>(name: string, kind: Span['kind'], work: (position?: Position) => Awaitable<T>): Awaitable<T> {
    const above = this.#positions.getStore()
    if (above === undefined || above.spans.length >= most) return work()
    const position = { ...above, spanId: newSpanId() }
    const start = performance.timeOrigin + performance.now()
    const end = (failure?: string): void => {
      const ids = { traceId: above.traceId, spanId: position.spanId, parentId: above.spanId }
      const times = { start, end: performance.timeOrigin + performance.now() }
      above.spans.push({
        ...ids,
        name,
        kind,
        ...times,
        attributes: {},
        ...(failure !== undefined && { failure }),
      })
    }
    const result = attempt(
      () => this.#positions.run(position, () => work(position)),
      error => {
        end(error instanceof Error ? error.message : String(error))
        throw error
      },
    )
    return after(result, value => {
      end()
      return value
    })
  }

  close(): Promise<void> {
    return this.#sink.close()
  }
}

/** The metrics of one request, which tell when it is complete. */
class TracedMeasured implements Measured {
  readonly #measured: Measured
  completed: (code: number) => void = () => undefined

  constructor(measured: Measured) {
    this.#measured = measured
  }

  get since(): number {
    return this.#measured.since
  }

  serves(resource: ResourceRequest): void {
    this.#measured.serves(resource)
  }

  works(): void {
    this.#measured.works()
  }

  through(view: string): void {
    this.#measured.through(view)
  }

  sentWhole(bytes: number): void {
    this.#measured.sentWhole(bytes)
  }

  sent(chunk: Buffer): void {
    this.#measured.sent(chunk)
  }

  end(code: number): void {
    this.#measured.end(code)
    this.completed(code)
  }
}
