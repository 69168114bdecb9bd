/**
 * An amount that the requests of all users share, such as bytes. A user may take more only while that is not more than others find
 * free: one user alone has no more than half of it.
 */
export class SharedRoom {
  readonly #taken = new Map<string, number>()
  #free: number

  constructor(amount: number) {
    this.#free = amount
  }

  /** False: there is no room. */
  take(user: string, amount: number): boolean {
    const taken = (this.#taken.get(user) ?? 0) + amount
    if (taken > this.#free) return false
    this.#taken.set(user, taken)
    this.#free -= amount
    return true
  }

  give(user: string, amount: number): void {
    const left = (this.#taken.get(user) ?? 0) - amount
    if (left > 0) this.#taken.set(user, left)
    else this.#taken.delete(user)
    this.#free += amount
  }
}
