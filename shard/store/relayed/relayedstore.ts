import { JoinedRead } from '../joinedread.ts'
import { pagesOf } from '../pages.ts'
import {
  Compacted,
  type Store,
  type StoreChange,
  type StoreCondition,
  type StoredValue,
  StoreError,
  type StoreEvent,
} from '../store.ts'
import {
  errorFrom,
  type StoreAnswered,
  type StoreAsked,
  type StoreCalls,
  type StoreLine,
  type StoreVerb,
} from './messages.ts'

interface Waiting {
  resolve(answer: unknown): void
  reject(error: Error): void
}

/** Opens the store of another process, which serves it with `serveStore`. */
export async function openRelayedStore(line: StoreLine<StoreAsked, StoreAnswered>): Promise<Store> {
  const store = new RelayedStore(line)
  await store.latest()
  return store
}

/** Implements `Store` over a line to the process that has opened the store. */
class RelayedStore implements Store {
  readonly isShared = true
  readonly failed: Promise<Error>
  readonly #line: StoreLine<StoreAsked, StoreAnswered>
  readonly #waiting = new Map<number, Waiting>()
  readonly #closing = new AbortController()
  readonly #writes = new Set<Promise<unknown>>()
  readonly #newest = new JoinedRead(() => this.#ask('latest', {}))
  #asked = 0
  #revision = 0
  #compacted = 0

  constructor(line: StoreLine<StoreAsked, StoreAnswered>) {
    this.#line = line
    this.failed = new Promise(resolve => {
      const end = (): void => {
        for (const { reject } of this.#waiting.values()) reject(lineClosed())
        if (!this.#closing.signal.aborted) resolve(lineClosed())
        this.#closing.abort()
      }
      line.closed.addEventListener('abort', end)
    })
    line.receive(answered => this.#hear(answered))
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  latest(): Promise<number> {
    return this.#newest.call()
  }

  get(key: string): Promise<StoredValue | undefined> {
    return this.#ask('get', { key })
  }

  range(
    from: string,
    to: string,
    options: { limit?: number; revision?: number } = {},
  ): AsyncGenerator<readonly StoredValue[]> {
    const revision = options.revision ?? this.#revision
    return pagesOf(from, options, async (next, limit) => {
      if (revision < this.#compacted) throw new Compacted(this.#compacted)
      const values = await this.#ask('range', { from: next, to, limit, revision })
      const last = values.at(-1)
      return { values, next: last && `${last.key}\0` }
    })
  }

  async commit(changes: readonly StoreChange[], conditions: readonly StoreCondition[] = []): Promise<number> {
    if (this.#closing.signal.aborted) throw new StoreError('the store is closed')
    const writing = this.#ask('commit', { changes, conditions })
    this.#writes.add(writing)
    try {
      return await writing
    } finally {
      this.#writes.delete(writing)
    }
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoreEvent[]> {
    const either = AbortSignal.any([signal, this.#closing.signal])
    if (either.aborted) return
    const watch = ++this.#asked
    const leave = (): void => void this.#ask('leave', { watch }).catch(() => undefined)
    await this.#ask('watch', { watch, prefix, after })
    either.addEventListener('abort', leave, { once: true })
    try {
      while (!either.aborted) {
        const events = await this.#ask('next', { watch })
        if (events === undefined) return
        yield events
      }
    } finally {
      either.removeEventListener('abort', leave)
      leave()
    }
  }

  async compact(revision: number): Promise<void> {
    if (!this.#closing.signal.aborted) await this.#ask('compact', { revision })
  }

  /** Waits for writes. The other process keeps the store open. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#writes)
  }

  #ask<V extends StoreVerb>(verb: V, asked: StoreCalls[V]['asked']): Promise<StoreCalls[V]['answer']> {
    if (this.#line.closed.aborted) return Promise.reject(lineClosed())
    const id = ++this.#asked
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: answer => resolve(answer as StoreCalls[V]['answer']), reject })
      this.#line.send({ id, verb, asked })
    })
  }

  #hear({ id, revision, compacted, answer, failure }: StoreAnswered): void {
    this.#revision = Math.max(this.#revision, revision)
    this.#compacted = Math.max(this.#compacted, compacted)
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (failure === undefined) waiting?.resolve(answer)
    else waiting?.reject(errorFrom(failure))
  }
}

const lineClosed = (): StoreError => new StoreError('the process that has opened the store has ended')
