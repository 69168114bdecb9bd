import { optional } from '../../framework/async/awaitable.ts'
import { Wake } from '../../framework/async/wake.ts'

/** A value of one of several generators. */
export interface Tagged<K, T> {
  readonly from: K
  readonly value: T
}

interface Waiting<K, T> extends Tagged<K, T> {
  /** The generator is asked for its next value. */
  taken(): void
}

/**
 * The values of several generators in the order of their arrival, each of which is asked for one value at a time. Generators can be added
 * while it is read. It ends or throws when the first one does, and returns all others.
 */
export class Merged<K, T> {
  readonly #sources: AsyncGenerator<T, void>[] = []
  readonly #waiting: Waiting<K, T>[] = []
  readonly #wake = new Wake()
  #end: { readonly error?: unknown } | undefined

  add(from: K, source: AsyncGenerator<T, void>): void {
    this.#sources.push(source)
    if (this.#end !== undefined) optional(source.return())
    else void this.#read(from, source)
  }

  async #read(from: K, source: AsyncGenerator<T, void>): Promise<void> {
    try {
      for await (const value of source)
        await new Promise<void>(taken => {
          this.#waiting.push({ from, value, taken })
          this.#wake.ring()
        })
      this.#end ??= {}
    } catch (error) {
      this.#end ??= { error }
    }
    this.#wake.ring()
  }

  async *values(): AsyncGenerator<Tagged<K, T>, void> {
    try {
      for (;;) {
        this.#wake.set()
        for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
          yield next
          next.taken()
        }
        if (this.#end !== undefined) break
        await this.#wake.rung()
      }
      if (this.#end.error !== undefined) throw this.#end.error
    } finally {
      this.#end ??= {}
      for (const source of this.#sources) optional(source.return())
    }
  }
}
