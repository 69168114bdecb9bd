/**
 * Items by key, in the order in which they were added. Most keys of most indexes have one item, which is then kept without a map
 * of its own: a map of one item takes 200 bytes more.
 */
export class Buckets<T extends object | string> {
  readonly #byKey = new Map<string, T | ReadonlyMap<string, T>>()
  readonly #idOf: (item: T) => string

  /** `idOf`: equal for the states of one object. */
  constructor(idOf: (item: T) => string) {
    this.#idOf = idOf
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  get(key: string): readonly T[] {
    const known = this.#byKey.get(key)
    if (known === undefined) return []
    return isMap(known) ? [...known.values()] : [known]
  }

  /** Adds an item, or replaces the one with its id. */
  add(key: string, item: T): void {
    const known = this.#byKey.get(key)
    const id = this.#idOf(item)
    if (isMap(known)) (known as Map<string, T>).set(id, item)
    else if (known === undefined || this.#idOf(known) === id) this.#byKey.set(key, item)
    else this.#byKey.set(key, new Map([known, item].map(each => [this.#idOf(each), each])))
  }

  /** Removes the item with the id of `item`, if there is one. */
  delete(key: string, item: T): void {
    const known = this.#byKey.get(key)
    if (known === undefined) return
    const id = this.#idOf(item)
    if (!isMap(known)) {
      if (this.#idOf(known) === id) this.#byKey.delete(key)
      return
    }
    const left = known as Map<string, T>
    left.delete(id)
    if (left.size === 1) for (const lone of left.values()) this.#byKey.set(key, lone)
  }
}

const isMap = <T>(value: T | ReadonlyMap<string, T> | undefined): value is ReadonlyMap<string, T> =>
  value instanceof Map
