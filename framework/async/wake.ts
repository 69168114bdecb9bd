import { optional } from './awaitable.ts'

/** Wakes one waiting loop. */
export class Wake {
  #resolve: (value: undefined) => void = () => undefined
  #promise: Promise<undefined> = Promise.resolve(undefined)

  constructor() {
    this.set()
  }

  ring(): void {
    this.#resolve(undefined)
  }

  /** Resolves after the next `ring` since the last `set`. */
  rung(): Promise<undefined> {
    return this.#promise
  }

  set(): void {
    this.#promise = new Promise(resolve => {
      this.#resolve = resolve
    })
  }
}

/**
 * The values of a generator, with `undefined` after each `ring`, and once more before the end. When the reader stops, the generator is
 * returned without waiting for its pending value, which ends with the signal of its request.
 */
export async function* valuesAndWakes<T>(
  values: AsyncGenerator<T, void>,
  wake: Wake,
): AsyncGenerator<T | undefined, void> {
  const ask = () => optional(values.next())
  try {
    for (let next = ask(); ; ) {
      const value = await Promise.race([next, wake.rung()])
      if (value === undefined) wake.set()
      yield value?.done ? undefined : value?.value
      if (value?.done) return
      if (value !== undefined) next = ask()
    }
  } finally {
    optional(values.return())
  }
}
