/** Somebody who wants to be woken at a time. */
export interface Sleeper {
  /** In milliseconds since the epoch; may change. */
  readonly due: number
  wake(): void
}

/** One timer for all sleepers: it looks at their due times every so often, and does not run when there are none. */
export class Ticker {
  readonly #sleepers = new Set<Sleeper>()
  readonly #every: number
  #timer: NodeJS.Timeout | undefined

  /** `every` in milliseconds: how late a sleeper may be woken. */
  constructor(every: number) {
    this.#every = every
  }

  add(sleeper: Sleeper): void {
    this.#sleepers.add(sleeper)
    this.#timer ??= setInterval(() => this.#tick(), this.#every).unref()
  }

  remove(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper)
    if (this.#sleepers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    const now = Date.now()
    for (const sleeper of this.#sleepers) if (sleeper.due <= now) sleeper.wake()
  }
}
