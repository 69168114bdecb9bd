/** Handlers by what they follow. */
export class Followers<K, F> {
  readonly #byKey = new Map<K, Set<F>>()

  of(key: K): Iterable<F> {
    return this.#byKey.get(key) ?? []
  }

  get keys(): readonly K[] {
    return [...this.#byKey.keys()]
  }

  /** Returns a function that removes the handler. */
  add(key: K, follower: F): () => void {
    const own = this.#byKey.get(key) ?? new Set()
    this.#byKey.set(key, own.add(follower))
    return () => {
      own.delete(follower)
      if (own.size === 0 && this.#byKey.get(key) === own) this.#byKey.delete(key)
    }
  }
}
