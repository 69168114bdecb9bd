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
