import { turn } from '../../framework/async/awaitable.ts'
import type { Batches } from './listreader.ts'
import { MemoryBudget, type MemoryLimits, type Send, SharedList } from './sharedlist.ts'

const mebibyte = 1024 * 1024
const defaultSize: MemoryLimits = { each: 32 * mebibyte, all: 128 * mebibyte }

const ignore = (): void => undefined

/** Lists that the shard would be asked for alike. */
class Slot {
  /** Who reads one of them, or waits for it. */
  readers = 0
  readonly #budget: MemoryBudget
  /** Not sent yet. */
  #next: SharedList | undefined
  /** Settled when the next may be sent. */
  #isFree: Promise<void> = Promise.resolve()

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** One that is sent after this call, and not before the one under way has finished. */
  next(send: Send): SharedList {
    if (this.#next === undefined || this.#next.isAbandoned) this.#next = this.#plan(send)
    return this.#next
  }

  #plan(send: Send): SharedList {
    const begins = this.#isFree.then(turn).then(() => {
      if (this.#next === shared) this.#next = undefined
    })
    const shared = new SharedList(begins, send, this.#budget)
    this.#isFree = shared.finished.then(ignore, ignore)
    return shared
  }
}

/**
 * Asks the shard once for many who ask for the same at the same time. A list is right when it shows the shard at any moment
 * after it was asked for, so nobody is given one that was sent before that.
 */
export class ListCoalescer {
  readonly #slots = new Map<string, Slot>()
  readonly #budget: MemoryBudget

  constructor(size: MemoryLimits = defaultSize) {
    this.#budget = new MemoryBudget(size)
  }

  /** Bytes that are kept for somebody to read. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /** `id` names everything that decides what the shard answers. The first alone gets its list as it comes. */
  async *list(id: string, signal: AbortSignal, send: Send): Batches {
    const known = this.#slots.get(id)
    const slot = known ?? new Slot(this.#budget)
    this.#slots.set(id, slot)
    slot.readers++
    try {
      return yield* known === undefined ? send(signal) : slot.next(send).read(signal)
    } finally {
      slot.readers--
      if (slot.readers === 0) this.#slots.delete(id)
    }
  }
}
