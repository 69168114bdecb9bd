import { optional, unlessAborted } from '../../framework/async/awaitable.ts'
import { onAbort } from '../../framework/async/fanout.ts'
import type { ItemBatch } from '../../framework/contract/storage.ts'
import type { Batches, ListHead } from './listreader.ts'

/** Asks the shard for a list, until the signal aborts. */
export type Send = (signal: AbortSignal) => Batches

const sizeOf = (batch: ItemBatch): number =>
  batch.bytes?.length ?? [...batch].reduce((sum, item) => sum + item.bytes.length, 0)

/**
 * One list at the shard, for all who have come before it is sent. What comes is kept until the last of them has read it, so
 * that nobody waits for slower readers. Where there is no room for all of it, one of them reads on from there, and the
 * others ask alone.
 */
export class SharedList {
  /** Settled when no more will be kept. undefined: there was no room for the rest, or nobody has waited. */
  readonly finished: Promise<ListHead | undefined>
  readonly #send: Send
  readonly #budget: MemoryBudget
  readonly #leaving = new AbortController()
  readonly #kept: ItemBatch[] = []
  #bytes = 0
  #readers = 0
  #rest: Batches | undefined

  /** Sent when `begins` resolves: nobody who comes later may read it. */
  constructor(begins: Promise<void>, send: Send, budget: MemoryBudget) {
    this.#send = send
    this.#budget = budget
    this.finished = optional(begins.then(() => this.#run()))
  }

  /** All who wanted it have left: it is not sent any more, or has been broken off. */
  get isAbandoned(): boolean {
    return this.#leaving.signal.aborted
  }

  /** Of what is kept. */
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

  /** Returns how to leave, which also happens when the signal aborts. */
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

  /** For the first who wants it. */
  #takeRest(): Batches | undefined {
    const rest = this.#rest
    this.#rest = undefined
    return rest
  }
}

/** What takes room as long as somebody reads it. */
export interface BudgetUser {
  /** Of what it holds. */
  readonly bytes: number
}

export interface MemoryLimits {
  /** Bytes of one holder. */
  readonly each: number
  /** Bytes of all together. */
  readonly all: number
}

/** How much may be held in memory for slow readers. */
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
