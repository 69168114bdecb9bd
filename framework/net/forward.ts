import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { turn } from '../async/turn.ts'
import type { ClientSide } from '../contract/upstream.ts'
import { badRequest, type StatusError } from '../meta/errors.ts'
import type { HttpRequest } from '../request/incoming.ts'
import { decodeSegment } from '../request/segments.ts'
import { closing, failureOf, isStaleConnection, tookTooLong } from './failure.ts'
import { forwardedBody } from './forwardedbody.ts'
import type { HeaderMap } from './headers.ts'
import { countInformational } from './informational.ts'
import { JoinedWrites } from './joinedwrites.ts'

/**
 * Checks a path that is forwarded byte for byte. A path that the next server could read as another path than the authorized
 * one is refused. Throws 400.
 */
export function checkPath(path: string): string {
  const segments = path.replace(/^\//, '').replace(/\/$/, '')
  if (segments !== '' && !segments.split('/').every(raw => decodeSegment(raw) !== undefined))
    throw badRequest('the path has empty, encoded or relative segments and cannot be passed on')
  return path
}

const streams =
  /[?&](watch|follow)(=(?!(0|false)(&|$))[^&]*)?(&|$)|\/watch\/|\/(exec|attach|portforward|proxy)(\/|\?|$)/i

/** Whether the response may be silent for any time. */
export const isStream = (target: string): boolean => streams.test(target)

/** A request on its way to another server. */
export interface ForwardOptions {
  readonly dispatcher: Dispatcher
  /** `https://host:port` */
  readonly origin: string
  /** Path and query. */
  readonly target: string
  readonly headers: HeaderMap
  /** The headers of the response that the client gets. */
  readonly answered: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  /**
   * Milliseconds until the first byte of the response after the request was sent, and between two bytes of it, except in
   * streams; default a minute.
   */
  readonly responseTimeout?: number
  readonly observer?: ForwardObserver
}

/** For metrics. */
export interface ForwardObserver {
  /** A part of the response has arrived. */
  received?(chunk: Buffer): void
  /** Bytes of the request's body and of the response's. */
  ended(sent: number, received: number): void
  /** The connection failed. */
  failed(error: unknown): void
}

const defaultTimeout = 60_000

/**
 * Forwards a request and its response. Both bodies are streamed with back-pressure, so memory does not grow with them.
 * Rejects with a `StatusError` as long as nothing was sent to the client.
 */
export const forward = (forwarding: ForwardOptions, client: ClientSide): Promise<void> =>
  new Promise((resolve, reject) => new Relay(forwarding, client, { resolve, reject }).start())

interface Outcome {
  resolve(): void
  reject(failure: StatusError): void
}

const retriable = new Set(['GET', 'HEAD'])

/** A class and not closures: there is one for each request. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #forwarding: ForwardOptions
  readonly #client: ClientSide
  readonly #outcome: Outcome
  readonly #hasBody: boolean
  readonly #body: JoinedWrites
  #controller: Dispatcher.DispatchController | undefined
  #timer: NodeJS.Timeout | undefined
  #bytesRead: number | undefined = -1
  #attempts = 0
  #received = 0
  #isOver = false
  /** Throws for too many responses before the response. */
  readonly #informed = countInformational()
  #endsLine = true
  /** Bytes of the response that have not arrived; NaN where the length is unknown. */
  #missing = Number.NaN

  constructor(forwarding: ForwardOptions, client: ClientSide, outcome: Outcome) {
    this.#forwarding = forwarding
    this.#client = client
    this.#outcome = outcome
    this.#hasBody = hasBody(client.request)
    this.#body = new JoinedWrites(client.response, {
      pause: () => this.#controller?.pause(),
      resume: () => this.#controller?.resume(),
    })
  }

  start(): void {
    const { lifetime } = this.#client
    this.#timer = setInterval(() => this.#lookAtClock(), this.#forwarding.responseTimeout ?? defaultTimeout)
    lifetime.onEnd(answer => this.#cutShort(answer))
    if (!this.#isOver) this.#dispatch()
  }

  #dispatch(): void {
    const { dispatcher, origin, target, headers, responseTimeout = defaultTimeout } = this.#forwarding
    const { request } = this.#client
    this.#attempts++
    dispatcher.dispatch(
      {
        origin,
        path: target,
        method: request.method as Dispatcher.HttpMethod,
        headers: headers as Record<string, string | string[]>,
        body: this.#hasBody ? this.#sent() : null,
        headersTimeout: 0,
        bodyTimeout: isStream(target) ? 0 : responseTimeout,
      },
      this,
    )
  }

  #sent(): Readable {
    // Not when the connection of the other server has ended: more of the body may arrive until then.
    return forwardedBody(this.#client.request).once('error', error => this.#cutShort(failureOf(error)))
  }

  /** Ends the request when the server neither responds nor reads more of the body. */
  #lookAtClock(): void {
    const bytesRead = this.#client.request.socket?.bytesRead
    const moved = this.#hasBody && bytesRead !== this.#bytesRead
    this.#bytesRead = bytesRead
    if (!moved) this.#cutShort(tookTooLong())
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(clientGone)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#informed()
      return
    }
    clearInterval(this.#timer)
    const { response } = this.#client
    this.#missing = Number(headers['content-length'] ?? Number.NaN)
    response.writeHead(status, this.#forwarding.answered(headers))
    // With a known length the body follows at once, and is sent together with the head.
    if (Number.isNaN(this.#missing)) response.flushHeaders()
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#endsLine = chunk[chunk.length - 1] === newline
    this.#missing -= chunk.length
    this.#received += chunk.length
    this.#forwarding.observer?.received?.(chunk)
    if (this.#isOver) return
    if (this.#missing === 0) this.#body.end(chunk)
    else this.#body.write(chunk)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    const { response } = this.#client
    if (!response.writableEnded) this.#body.end()
    this.#finish()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    this.#forwarding.observer?.failed(error)
    const { request, response } = this.#client
    const isUntouched = !response.headersSent && !this.#hasBody && retriable.has(request.method ?? '')
    if (isUntouched && this.#attempts === 1 && isStaleConnection(error)) this.#dispatch()
    else this.#fail(failureOf(error))
  }

  /** The client left, the server stops, or the watched object is gone. A watch ends cleanly between two events. */
  #cutShort(answer: StatusError): void {
    if (this.#isOver) return
    const { response, lifetime } = this.#client
    const isBetweenEvents = this.#endsLine && isStream(this.#forwarding.target)
    if (response.headersSent && lifetime.endsWell() && isBetweenEvents) {
      this.#body.end()
      this.#finish()
    } else this.#fail(answer)
    this.#abortLater()
  }

  /** A connection with a thousand requests may close. */
  #abortLater(): void {
    const controller = this.#controller
    if (controller !== undefined) void turn().then(() => controller.abort(clientGone))
  }

  #fail(failure: StatusError): void {
    const { response } = this.#client
    const isBegun = response.headersSent
    this.#body.drop()
    // A truncated response must not look complete.
    if (isBegun) response.destroy('stream' in response ? cutOff : undefined)
    this.#finish(isBegun ? undefined : failure)
  }

  #finish(failure?: StatusError): void {
    this.#isOver = true
    clearInterval(this.#timer)
    // Bodies of unknown length are not counted.
    const sent = Number(this.#client.request.headers['content-length'] ?? 0)
    this.#forwarding.observer?.ended(sent, this.#received)
    if (failure === undefined) this.#outcome.resolve()
    else this.#outcome.reject(failure)
  }
}

const newline = 10

const clientGone = closing('the client is gone')
const cutOff = closing('the response was cut off')

function hasBody(request: HttpRequest): boolean {
  const length = request.headers['content-length']
  if (length !== undefined) return length !== '0'
  return 'stream' in request ? !request.stream.endAfterHeaders : 'transfer-encoding' in request.headers
}
