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
