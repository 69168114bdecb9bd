import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. */
export interface BackoffOptions {
  readonly first: number
  readonly longest: number
  /** How many times as long each next pause is; default 2. */
  readonly factor?: number
}

/** The pause after so many failures in a row: exponential up to `longest`, and up to a half more as jitter. */
export const pauseAfter = (failures: number, { first, longest, factor = 2 }: BackoffOptions): number =>
  Math.min(longest, first * factor ** (failures - 1)) * (1 + Math.random() / 2)

/** Pauses between attempts, which grow until `reset` is called. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  /** The next pause in milliseconds. */
  next(): number {
    this.#failures++
    return pauseAfter(this.#failures, this.#options)
  }

  reset(): void {
    this.#failures = 0
  }

  /** Waits for the next pause. Resolves at once when the signal aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    await sleep(this.next(), undefined, { signal }).catch(() => undefined)
  }
}

export interface RetryOptions extends BackoffOptions {
  readonly signal: AbortSignal
  /** Called after each failure that is retried. */
  readonly failed?: (error: unknown) => void
}

/** Calls `act` until it succeeds. Rejects with its last error when the signal aborts. */
export async function retry<T>(act: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, failed } = options
  const backoff = new Backoff(options)
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (signal.aborted) throw error
      failed?.(error)
      await backoff.pause(signal)
      if (signal.aborted) throw error
    }
  }
}
