import { StatusError, serviceUnavailable, timeout, tooManyRequests } from '../meta/errors.ts'
import type { Awaitable } from './awaitable.ts'
import { onAbort } from './fanout.ts'
import { turn } from './turn.ts'

/** Why a request ended before its response was complete. */
export type Ending = 'client gone' | 'client stalled' | 'deadline' | 'shutdown' | 'replaced'

// The error that is returned if the request ends before its response has begun.
const answers: Readonly<Record<Ending, () => StatusError>> = {
  'client gone': () => new StatusError(499, 'ClientGone', 'the client has closed the request'),
  'client stalled': () => timeout('the client has not read the response'),
  deadline: () => timeout('request did not complete within the allotted timeout'),
  shutdown: () => tooManyRequests('The apiserver is shutting down, please try again later.', 5),
  replaced: () => serviceUnavailable('the served APIs have changed, please try again', 1),
}

/** A resource that a request holds while it is in progress, such as its seat among concurrent requests. */
export interface Holding {
  /** The request waits for its client. */
  pause(): void
  /** Resolves when the request may go on, or has ended. */
  resume(): Awaitable<void>
  /** The response is complete. */
  leave(): void
}

/** The lifetime of a request: until its response is complete, or until the first event that ends it early. */
export interface Lifetime {
  /** Aborted with a `StatusError` as its reason. Created on first use: most requests end before it is read. */
  readonly signal: AbortSignal
  readonly ended: Ending | undefined
  /** Whether the response is complete. */
  readonly isOver: boolean
  /** A stream that ends now ends like a complete one (rules.md 1.41). */
  endsWell(): boolean
  end(ending: Ending): void
  /**
   * Calls `handler` with the error to respond with when the request ends early, in a turn of the event loop if its client has gone;
   * at once if it has ended.
   */
  onEnd(handler: (answer: StatusError) => void): void
  /** Ends when `other` aborts. */
  follow(other: AbortSignal, ending: Ending): void
  /** Ends after so many milliseconds; replaces an earlier deadline. undefined: no deadline. */
  limit(milliseconds: number | undefined): void
  /** From now on a deadline applies. A response that is there at once needs none. */
  await(): void
  readonly isAwaited: boolean
  /** Leaves `holding` when the response is complete, also after an early end. */
  hold(holding: Holding): void
  readonly holding: Holding | undefined
  /** Calls `handler` when the response is complete, also after an early end; at once if it is complete. */
  onOver(handler: () => void): void
  /** The response is complete: nothing ends the request early any more. */
  dispose(): void
}

/** `milliseconds`: until the deadline. */
export const createLifetime = (milliseconds?: number): Lifetime => new RequestLifetime(milliseconds)

/** A class, not closures: one is created for each request. */
class RequestLifetime implements Lifetime {
  ended: Ending | undefined
  isAwaited = false
  isOver = false
  #allowed: number | undefined
  #controller: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #handlers: ((answer: StatusError) => void)[] | undefined
  #releases: (() => void)[] | undefined
  holding: Holding | undefined

  constructor(milliseconds: number | undefined) {
    this.#allowed = milliseconds
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.ended !== undefined) this.#controller.abort(answers[this.ended]())
    }
    return this.#controller.signal
  }

  endsWell(): boolean {
    return this.ended === 'shutdown' || this.ended === 'replaced'
  }

  end(ending: Ending): void {
    if (this.isOver || this.ended !== undefined) return
    this.ended = ending
    // A connection with a thousand requests may close.
    if (ending === 'client gone') void turn().then(this.#tell)
    else this.#tell()
  }

  readonly #tell = (): void => {
    if (this.isOver || this.ended === undefined) return
    const answer = answers[this.ended]()
    this.#controller?.abort(answer)
    for (const handler of this.#handlers ?? []) handler(answer)
  }

  onEnd(handler: (answer: StatusError) => void): void {
    if (this.ended !== undefined) handler(answers[this.ended]())
    else if (this.#handlers === undefined) this.#handlers = [handler]
    else this.#handlers.push(handler)
  }

  follow(signal: AbortSignal, ending: Ending): void {
    this.onOver(onAbort(signal, () => this.end(ending)))
  }

  onOver(handler: () => void): void {
    if (this.isOver) handler()
    else if (this.#releases === undefined) this.#releases = [handler]
    else this.#releases.push(handler)
  }

  limit(milliseconds: number | undefined): void {
    this.#allowed = milliseconds
    if (this.isAwaited) this.await()
  }

  await(): void {
    this.isAwaited = true
    clearTimeout(this.#timer)
    const allowed = this.#allowed
    this.#timer = allowed === undefined ? undefined : setTimeout(endAtDeadline, allowed, this)
  }

  hold(holding: Holding): void {
    this.holding = holding
  }

  dispose(): void {
    this.isOver = true
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    if (this.#releases !== undefined) for (const release of this.#releases) release()
    this.holding?.leave()
  }
}

const endAtDeadline = (lifetime: Lifetime): void => lifetime.end('deadline')
