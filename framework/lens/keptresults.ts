import { originalItem } from './privatestorage.ts'

/** A value that was computed from an item; `size`: about how many bytes it keeps in memory. */
export interface KeptResult {
  readonly size: number
}

type Results<V> = Map<object, WeakMap<object, V>>

/**
 * Results that are kept with items, by what computed them, until the item is garbage. When the results together are larger than
 * `most` bytes, those that were not used lately are dropped, so at most twice as much is kept.
 */
export class KeptResults<V extends KeptResult> {
  readonly #most: number
  #size = 0
  #current: Results<V> = new Map()
  #previous: Results<V> = new Map()

  constructor(most: number) {
    this.#most = most
  }

  get(owner: object, item: object): V | undefined {
    const key = originalItem(item)
    const found = this.#current.get(owner)?.get(key)
    if (found !== undefined) return found
    const older = this.#previous.get(owner)?.get(key)
    if (older !== undefined) this.set(owner, item, older)
    return older
  }

  set(owner: object, item: object, result: V): void {
    this.#size += result.size
    if (this.#size > this.#most) this.#drop(result.size)
    const own = this.#current.get(owner) ?? new WeakMap<object, V>()
    this.#current.set(owner, own)
    own.set(originalItem(item), result)
  }

  #drop(size: number): void {
    this.#previous = this.#current
    this.#current = new Map()
    this.#size = size
  }
}
