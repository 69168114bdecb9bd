import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../contract/log.ts'
import { createClient, type HttpClient } from '../net/client.ts'
import { problemOf } from '../net/failure.ts'
import { fetchText } from '../net/fetch.ts'
import type { Span, SpanSink } from './span.ts'

export interface OtlpOptions {
  /** The URL of the receiver for traces: `http://localhost:4318/v1/traces`. */
  readonly url: string
  readonly log: Pick<Logger, 'warn'>
}

const limits = {
  /** Spans that wait; further ones are dropped. */
  waiting: 4096,
  /** Spans in one request. */
  batch: 512,
  /** Milliseconds between two requests. */
  interval: 1_000,
  /** Milliseconds until the receiver must have answered. */
  patience: 10_000,
  /** Bytes of a response. */
  response: 64 * 1024,
  /** Milliseconds in which the last spans are sent when the process ends. */
  lastPatience: 2_000,
}

/**
 * Sends spans to a receiver of OpenTelemetry (OTLP/HTTP with JSON, opentelemetry-proto `docs/specification.md`), one request at a time.
 * A receiver that fails or hangs costs its spans only; the log gets one line when that begins and one when it ends.
 */
export class OtlpExporter implements SpanSink {
  readonly #options: OtlpOptions
  readonly #client: HttpClient = createClient({ connections: 1 })
  readonly #timer: NodeJS.Timeout
  #waiting: Span[] = []
  #sending: Promise<void> | undefined
  #isFailing = false
  #isClosed = false

  constructor(options: OtlpOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#flush(), limits.interval).unref()
  }

  add(spans: readonly Span[]): void {
    if (this.#waiting.length + spans.length <= limits.waiting) this.#waiting.push(...spans)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const late = new AbortController()
    const limit = sleep(limits.lastPatience, undefined, { signal: late.signal }).catch(() => undefined)
    await Promise.race([this.#sendAll(), limit])
    late.abort()
    this.#isClosed = true
    await this.#client.destroy()
  }

  async #sendAll(): Promise<void> {
    while ((this.#waiting.length > 0 || this.#sending !== undefined) && !this.#isFailing) await this.#flush()
  }

  #flush(): Promise<void> {
    if (this.#sending === undefined && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, limits.batch)
      this.#sending = this.#send(batch).finally(() => {
        this.#sending = undefined
      })
    }
    return this.#sending ?? Promise.resolve()
  }

  async #send(batch: readonly Span[]): Promise<void> {
    const { url, log } = this.#options
    const reason = await post(this.#client, url, batch).catch(error => problemOf(error, '').reason)
    if (reason === undefined && this.#isFailing) log.warn({ url }, 'traces are sent again')
    if (reason !== undefined && !this.#isFailing && !this.#isClosed)
      log.warn({ url, reason }, 'traces cannot be sent and are dropped')
    this.#isFailing = reason !== undefined
  }
}

/** Resolves with the reason why the receiver has not taken the spans, if it has responded. */
async function post(client: HttpClient, url: string, batch: readonly Span[]): Promise<string | undefined> {
  const { origin, pathname, search } = new URL(url)
  const body = JSON.stringify(encode(batch))
  const headers = { 'content-type': 'application/json' }
  const request = { origin, path: pathname + search, method: 'POST', headers, body } as const
  const { status } = await fetchText(client, request, { bytes: limits.response, timeout: limits.patience })
  return status < 300 ? undefined : `the receiver responded with ${status}`
}

const kinds = { internal: 1, server: 2, client: 3 }
const failed = 2

const encode = (spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf({ 'service.name': 'oriel' }) },
      scopeSpans: [{ scope: { name: 'oriel' }, spans: spans.map(encodeSpan) }],
    },
  ],
})

const encodeSpan = ({ parentId, kind, start, end, attributes, failure, ...span }: Span): object => ({
  ...span,
  ...(parentId !== '' && { parentSpanId: parentId }),
  kind: kinds[kind],
  startTimeUnixNano: nanoseconds(start),
  endTimeUnixNano: nanoseconds(end),
  attributes: attributesOf(attributes),
  ...(failure !== undefined && { status: { code: failed, message: failure } }),
})

const nanoseconds = (milliseconds: number): string => String(BigInt(Math.round(milliseconds * 1000)) * 1000n)

const attributesOf = (attributes: Span['attributes']): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
