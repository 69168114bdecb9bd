import type { Steps } from '../json/json.ts'

export type { Steps } from '../json/json.ts'

import { laterTurn, slice, turn } from './turn.ts'

/** A value, or a promise of it. Most steps of most requests have the value at once. */
export type Awaitable<T> = T | Promise<T>

/** Calls `next` with the value: synchronously unless the value is a promise. */
export const after = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Always a promise: an error that `work` throws synchronously becomes a rejection. */
export const promised = async <T>(work: () => Awaitable<T>): Promise<T> => work()

/** The result of `work`; errors, thrown or rejected, are passed to `otherwise`. */
export function attempt<T, R>(
  work: () => Awaitable<T>,
  otherwise: (error: unknown) => Awaitable<R>,
): Awaitable<T | R> {
  try {
    const made = work()
    return made instanceof Promise ? made.catch(otherwise) : made
  } catch (error) {
    return otherwise(error)
  }
}

/** The value of a promise that settles before the next turn of the event loop; else undefined. */
export function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, new Promise<undefined>(resolve => setImmediate(resolve, undefined))])
}

/** The promise; its rejection is not reported as unhandled. */
export function optional<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Resolves when the signal aborts; at once if it is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Settles like the promise, or rejects with the reason of the signal if that aborts first. */
export const unlessAborted = <T>(signal: AbortSignal, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/**
 * The chunks as the body of a response. `close` runs once, at the end or when the reader stops: also if it stops before
 * the first chunk, when the `finally` of a generator does not run. `early` are the chunks that were read already, which are taken out:
 * a variable would keep them until the response has ended.
 */
export function bodyOf(
  chunks: AsyncGenerator<Buffer, void>,
  close: () => void,
  early: Awaitable<IteratorResult<Buffer, void>>[] = [],
): AsyncIterableIterator<Buffer> {
  let isClosed = false
  const closeOnce = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    await close()
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      try {
        const next = await (early.shift() ?? chunks.next())
        if (next.done) await closeOnce()
        return next.done ? { done: true, value: undefined } : next
      } catch (error) {
        await closeOnce()
        throw error
      }
    },
    async return() {
      await closeOnce()
      await chunks.return()
      return { done: true, value: undefined }
    },
  }
}

/** Slices after which the work of a request is long. */
const few = 4

/** Bytes that take less time than a turn is worth. */
const small = 8 * 1024

/** Work of one request, between the turns of others. */
export class Pace {
  #since = performance.now()
  #slices = 0

  /** A promise of the next turn of the event loop if the work since the last one took long, or undefined. */
  due(): Promise<void> | undefined {
    return performance.now() - this.#since < slice ? undefined : this.next()
  }

  /**
   * The next turn: before work for bytes that have arrived, since those of many requests arrive in one turn of the event loop. A
   * small piece needs none.
   */
  dueFor(piece: Buffer): Promise<void> | undefined {
    return piece.length < small ? undefined : this.next()
  }

  /** The next turn: before work whose length is unknown. */
  async next(): Promise<void> {
    await (this.#slices++ < few ? turn() : laterTurn())
    this.#since = performance.now()
  }
}

/** The result of work in steps; other requests have their turns between two of them. */
export async function inTurns<T>(steps: Steps<T>, pace: Pace): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const wait = step.value ?? pace.due()
    if (wait !== undefined) await wait
  }
}

/** Like `inTurns`, but the result itself if the work is short. Throws what the work throws until then. */
export function nowOrInTurns<T>(steps: Steps<T>, pace: Pace): Awaitable<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const wait = step.value ?? pace.due()
    if (wait !== undefined) return wait.then(() => inTurns(steps, pace))
  }
}

/** The results of `work` for the items, without those that are undefined; other requests have their turns in between. */
export async function pacedMap<T, R>(
  items: Iterable<T>,
  work: (item: T) => R | undefined,
): Promise<readonly R[]> {
  const pace = new Pace()
  const results: R[] = []
  for (const item of items) {
    const wait = pace.due()
    if (wait !== undefined) await wait
    const result = work(item)
    if (result !== undefined) results.push(result)
  }
  return results
}

interface Reader {
  readonly weight: number
  readonly start: () => void
}

/** How many readers work in one turn of the event loop. */
export interface ReadersInTurn {
  /** Readers that start together. Default 16. */
  readonly atOnce?: number
  /** Milliseconds: when those have worked, the next start in the same turn if less time has passed. Default 4. */
  readonly slice?: number
}

/** Many readers that become ready at once work in several turns of the event loop, in their order. */
export class Readers {
  #admitted = 0
  #since = 0
  readonly #waiting: Reader[] = []
  readonly #atOnce: number
  readonly #slice: number

  constructor({ atOnce = 16, slice = 4 }: ReadersInTurn = {}) {
    this.#atOnce = atOnce
    this.#slice = slice
  }

  /** undefined: the reader may work now; or a promise of its turn. `weight`: as much work as so many readers have. */
  enter(weight = 1): Promise<void> | undefined {
    if (this.#admitted === 0) setImmediate(this.#turn)
    if (this.#waiting.length === 0 && this.#admitted < this.#atOnce) {
      this.#admitted += weight
      return undefined
    }
    return new Promise(start => this.#waiting.push({ weight, start }))
  }

  readonly #turn = (): void => {
    this.#since = performance.now()
    this.#admit()
  }

  readonly #admit = (): void => {
    this.#admitted = 0
    let count = 0
    for (const { weight, start } of this.#waiting) {
      if (this.#admitted >= this.#atOnce) break
      this.#admitted += weight
      count++
      start()
    }
    this.#waiting.splice(0, count)
    // A tick that a microtask schedules runs after the microtasks in which these readers work.
    if (count > 0) queueMicrotask(() => process.nextTick(this.#next))
  }

  readonly #next = (): void => {
    const isTimeLeft = performance.now() - this.#since < this.#slice
    if (isTimeLeft && this.#waiting.length > 0) this.#admit()
    else setImmediate(this.#turn)
  }
}

/** Bytes of a body that take longer to process than many small requests. */
const large = 128 * 1024

/** Serializes the processing of large bodies: between two of them the event loop handles pending I/O. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** The body, when it may be processed: a small one at once. */
  async of(body: Buffer): Promise<Buffer> {
    if (body.length < large) return body
    this.#last = this.#last.then(() => new Promise(resolve => setImmediate(resolve)))
    await this.#last
    return body
  }
}
