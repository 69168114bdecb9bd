import { turn } from '../../framework/async/turn.ts'
import type { Batches } from './listreader.ts'
import { MemoryBudget, type MemoryLimits, type Send, SharedList } from './sharedlist.ts'

const mebibyte = 1024 * 1024
const defaultSize: MemoryLimits = { each: 32 * mebibyte, all: 128 * mebibyte }

const ignore = (): void => undefined

/** Equal lists: one may be running, and one may be waiting. */
class Slot {
  /** Readers of these lists, waiting or reading. */
  readers = 0
  readonly #budget: MemoryBudget
  /** The list that is not sent yet. */
  #next: SharedList | undefined
  /** Settles when the next list may be sent. */
  #isFree: Promise<void> = Promise.resolve()

  constructor(budget: MemoryBudget) {
    this.#budget = budget
  }

  /** The list that is sent next, when the running one has finished. */
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
 * Sends one list to the shard for equal concurrent requests. A list is correct when it shows a state that existed
 * after the request arrived, so a request never shares a list that was sent before it.
 */
export class ListCoalescer {
  readonly #slots = new Map<string, Slot>()
  readonly #budget: MemoryBudget

  constructor(size: MemoryLimits = defaultSize) {
    this.#budget = new MemoryBudget(size)
  }

  /** Bytes that are buffered for readers. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /** `id` contains everything on which the response depends. The first request streams its own list. */
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
