import { Paused } from '../../../cel/planner/replay.ts'

/** Thrown where a value is needed that would be computed too deep in others. */
class Needed extends Error {
  readonly value: string
  constructor(value: string) {
    super('another value is needed first')
    this.value = value
  }
}

/** Values that are computed inside each other: each may need the stack of the longest expression. */
const mostNested = 4

/** Values that are computed in some milliseconds. */
const valuesOfStep = 200

/**
 * Values by name, each computed once, that may need each other in chains of any length, but not in circles. Where a chain would take too
 * much of the stack, the computation ends, and begins again when the value that it needs is known. It pauses now and then, and goes on with
 * the values that are known.
 */
export class NestedValues<T> {
  readonly #known = new Map<string, T>()
  readonly #compute: (name: string) => T
  /** A value that was asked for, and those that it needs first; kept when the computation pauses. */
  #wanted: string[] = []
  #depth = 0
  #left = valuesOfStep

  constructor(compute: (name: string) => T) {
    this.#compute = compute
  }

  /** Throws `Paused`. */
  of(name: string): T {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#depth === mostNested) throw new Needed(name)
    if (this.#depth > 0) return this.#computed(name)
    return this.#afterOthers(name)
  }

  #afterOthers(name: string): T {
    if (this.#wanted[0] !== name) this.#wanted = [name]
    for (;;)
      try {
        const value = this.#computed(this.#wanted.at(-1) ?? name)
        this.#wanted.pop()
        if (this.#wanted.length === 0) return value
      } catch (error) {
        if (!(error instanceof Needed)) throw error
        this.#wanted.push(error.value)
      }
  }

  #computed(name: string): T {
    this.#pauseWhenDue()
    this.#depth++
    try {
      const value = this.#compute(name)
      this.#known.set(name, value)
      return value
    } finally {
      this.#depth--
    }
  }

  #pauseWhenDue(): void {
    if (--this.#left > 0) return
    this.#left = valuesOfStep
    throw new Paused()
  }
}
