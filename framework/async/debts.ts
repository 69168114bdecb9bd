/** How fast debts are paid, and how much may be owed. */
export interface Rate {
  /** Units that time pays per second. */
  readonly perSecond: number
  /** Units that may be owed before there is something to wait for. */
  readonly burst: number
  /** Milliseconds of a clock that never goes back; default `performance.now`. */
  readonly now?: () => number
}

interface Debt {
  readonly units: number
  /** Milliseconds. */
  readonly at: number
}

/** Debtors after which those that owe nothing are forgotten. */
const mostDebtors = 1_000

/** What each debtor, for instance a user, has used of a rate: a token bucket for each, which may be overdrawn once. */
export class Debts {
  readonly #rate: Rate
  readonly #now: () => number
  readonly #debts = new Map<string, Debt>()

  constructor(rate: Rate) {
    this.#rate = rate
    this.#now = rate.now ?? (() => performance.now())
  }

  charge(debtor: string, units: number): void {
    this.#debts.set(debtor, { units: this.#owed(debtor) + units, at: this.#now() })
    if (this.#debts.size > mostDebtors) this.#forget()
  }

  /** Milliseconds until no more than the burst is owed; 0 if that is so now. */
  wait(debtor: string): number {
    const { perSecond, burst } = this.#rate
    return Math.max(0, ((this.#owed(debtor) - burst) / perSecond) * 1_000)
  }

  #owed(debtor: string): number {
    const debt = this.#debts.get(debtor)
    if (debt === undefined) return 0
    return Math.max(0, debt.units - ((this.#now() - debt.at) / 1_000) * this.#rate.perSecond)
  }

  #forget(): void {
    for (const debtor of this.#debts.keys()) if (this.#owed(debtor) === 0) this.#debts.delete(debtor)
  }
}
