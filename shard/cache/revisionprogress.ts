import type { AppliedRevision } from './resource.ts'

interface Waiter {
  readonly revision: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A revision that only increases, and the callers that wait for one. */
export class RevisionProgress implements AppliedRevision {
  /** The newest revision; `advance` sets it. */
  revision: number
  #closed = false
  readonly #waiters = new Set<Waiter>()

  constructor(revision: number) {
    this.revision = revision
  }

  advance(revision: number): void {
    this.revision = revision
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Resolves at `revision`; rejects if the cache is closed before. */
  at(revision: number): Promise<void> {
    if (revision <= this.revision) return Promise.resolve()
    if (this.#closed) return Promise.reject(closedError(revision))
    return new Promise((resolve, reject) => this.#waiters.add({ revision, resolve, reject }))
  }

  /** Resolves at `revision`, when `signal` aborts, after `milliseconds` if given, or when the cache is closed. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void> {
    if (revision <= this.revision || this.#closed || signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#waiters.delete(waiter)
        resolve()
      }
      const waiter: Waiter = { revision, resolve: done, reject: done }
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds)
      signal.addEventListener('abort', done)
      this.#waiters.add(waiter)
    })
  }

  close(): void {
    this.#closed = true
    for (const waiter of this.#waiters) waiter.reject(closedError(waiter.revision))
    this.#waiters.clear()
  }
}

const closedError = (revision: number): Error =>
  new Error(`the watch cache was closed before revision ${revision} was applied`)
