import { optional, unlessAborted } from '../../framework/async/awaitable.ts'
import { onAbort } from '../../framework/async/fanout.ts'
import type { ItemBatch } from '../../framework/contract/storage.ts'
import type { Batches, ListHead } from './listreader.ts'

/** Sends a list to the shard; the signal aborts it. */
export type Send = (signal: AbortSignal) => Batches

const sizeOf = (batch: ItemBatch): number =>
  batch.bytes?.length ?? [...batch].reduce((sum, item) => sum + item.bytes.length, 0)

/**
 * One list at the shard, shared by all readers that came before it is sent. Batches are buffered until the last
 * reader has read them, so that no reader waits for a slower one. When the buffer exceeds the memory budget, one
 * reader continues the stream, and the others send their own lists.
 */
export class SharedList {
  /** Settles when no more batches will be buffered. undefined: the budget was exceeded, or there were no readers. */
  readonly finished: Promise<ListHead | undefined>
  readonly #send: Send
  readonly #budget: MemoryBudget
  readonly #leaving = new AbortController()
  readonly #kept: ItemBatch[] = []
  #bytes = 0
  #readers = 0
  #rest: Batches | undefined

  /** The list is sent when `begins` resolves; later readers must not read it. */
  constructor(begins: Promise<void>, send: Send, budget: MemoryBudget) {
    this.#send = send
    this.#budget = budget
    this.finished = optional(begins.then(() => this.#run()))
  }

  /** All readers have left: the list will not be sent, or was aborted. */
  get isAbandoned(): boolean {
    return this.#leaving.signal.aborted
  }

  /** Of the buffered batches. */
  get bytes(): number {
    return this.#bytes
  }

  async *read(signal: AbortSignal): Batches {
    const leave = this.#enter(signal)
    try {
      const head = await unlessAborted(signal, this.finished)
      const rest = this.#takeRest()
      if (head !== undefined || rest !== undefined) yield* this.#kept
      if (head !== undefined) return head
      if (rest !== undefined) return yield* rest
    } finally {
      leave()
    }
    return yield* this.#send(signal)
  }

  /** Returns a function that leaves; an abort of the signal also leaves. */
  #enter(signal: AbortSignal): () => void {
    this.#readers++
    this.#budget.enter(this)
    let isIn = true
    const leave = (): void => {
      if (isIn) this.#leave()
      isIn = false
    }
    const stay = onAbort(signal, leave)
    return () => {
      stay()
      leave()
    }
  }

  #leave(): void {
    this.#readers--
    if (this.#readers > 0) return
    this.#budget.leave(this)
    this.#leaving.abort()
  }

  async #run(): Promise<ListHead | undefined> {
    if (this.isAbandoned) return undefined
    const list = this.#send(this.#leaving.signal)
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      this.#kept.push(next.value)
      this.#bytes += sizeOf(next.value)
      if (this.#budget.isExceededBy(this)) {
        this.#rest = list
        return undefined
      }
    }
    return next.value
  }

  /** The rest of the stream; only the first caller gets it. */
  #takeRest(): Batches | undefined {
    const rest = this.#rest
    this.#rest = undefined
    return rest
  }
}

/** A user of the memory budget. */
export interface BudgetUser {
  /** The bytes that it has buffered. */
  readonly bytes: number
}

export interface MemoryLimits {
  /** Bytes of one user. */
  readonly each: number
  /** Bytes of all users together. */
  readonly all: number
}

/** Limits the memory for slow readers. */
export class MemoryBudget {
  readonly #size: MemoryLimits
  readonly #users = new Set<BudgetUser>()

  constructor(size: MemoryLimits) {
    this.#size = size
  }

  enter(holder: BudgetUser): void {
    this.#users.add(holder)
  }
  leave(holder: BudgetUser): void {
    this.#users.delete(holder)
  }

  isExceededBy({ bytes }: BudgetUser): boolean {
    return bytes > this.#size.each || this.bytes > this.#size.all
  }

  get bytes(): number {
    let bytes = 0
    for (const holder of this.#users) bytes += holder.bytes
    return bytes
  }
}
