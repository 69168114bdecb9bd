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

/** Resolves in the next turn of the event loop, after the pending I/O. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

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
 * the first chunk, when the `finally` of a generator does not run.
 */
export function bodyOf(
  chunks: AsyncGenerator<Buffer, void>,
  close: () => void,
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
        const next = await chunks.next()
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

/** Bytes of a body that take longer to process than many small requests. */
const large = 128 * 1024

/** Serializes the processing of large bodies: between two of them the event loop handles pending I/O. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** The body, when it may be processed: a small one at once. */
  async of(body: Buffer): Promise<Buffer> {
    if (body.length < large) return body
    this.#last = this.#last.then(turn)
    await this.#last
    return body
  }
}
