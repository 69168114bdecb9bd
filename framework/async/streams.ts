/** The value of a promise that is settled before the next turn of the event loop; undefined otherwise. */
export function soon<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, new Promise<undefined>(resolve => setImmediate(resolve, undefined))])
}

/** Everything else that is waiting comes first. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** The promise, whose failure is nobody's business when nobody waits for it any more. */
export function optional<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Resolves when the signal aborts, or has. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Rejects with the signal's reason when that comes first: whoever leaves is not kept until the promise is settled. */
export const unlessAborted = <T>(signal: AbortSignal, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/**
 * The chunks as the body of an answer. `close` runs once, at the end or when the reader leaves: also when it leaves
 * before it has asked for anything, where a generator's `finally` would not run.
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

/** Bytes of a body from which on working at it takes longer than answering many small requests. */
const large = 128 * 1024

/**
 * Whoever has a large body waits for a turn: one of them is worked at between two looks at what else has come, however many
 * have come together.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** The body, when it may be worked at: a small one at once. */
  async of(body: Buffer): Promise<Buffer> {
    if (body.length < large) return body
    this.#last = this.#last.then(turn)
    await this.#last
    return body
  }
}
