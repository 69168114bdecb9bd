import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../meta/object.ts'

/**
 * The passes of one write through mutating admission. There is a second one when a tenant's webhook or policy has changed
 * the object: then those that want it are asked once more, and nobody is asked a third time.
 */
export class Reinvocation {
  readonly #plugins = new Map<string, Revisits>()
  #isAgain = false
  #isWanted = false

  /** Whether this is the second pass. */
  get isAgain(): boolean {
    return this.#isAgain
  }

  /** Begins the second pass if anybody wanted it; false when there is none. */
  again(): boolean {
    const begins = this.#isWanted && !this.#isAgain
    this.#isAgain ||= begins
    return begins
  }

  want(): void {
    this.#isWanted = true
  }

  /** What a plugin remembers of the first pass, by the plugin's name. */
  of(plugin: string): Revisits {
    const known = this.#plugins.get(plugin) ?? new Revisits(this)
    this.#plugins.set(plugin, known)
    return known
  }
}

/** The hooks that one plugin asks, by keys of its own. */
export class Revisits {
  readonly #passes: Reinvocation
  /** Asked so far, and willing to be asked again. */
  readonly #willing = new Set<string>()
  /** To be asked again, because the object has changed since. */
  readonly #due = new Set<string>()
  #left: KubeObject | undefined

  constructor(passes: Reinvocation) {
    this.#passes = passes
  }

  /** The object reaches the plugin: others may have changed it since it left. */
  enter(object: KubeObject): void {
    if (this.#passes.isAgain && !isDeepStrictEqual(this.#left, object)) this.#recall()
  }

  /** Whether a hook is asked in this pass. */
  asks(key: string): boolean {
    return !this.#passes.isAgain || this.#due.has(key)
  }

  /** A hook has been asked. `changed`: those before it want to see that. */
  asked(key: string, { changed, willing }: { readonly changed: boolean; readonly willing: boolean }): void {
    if (changed) this.changed()
    if (willing) this.#willing.add(key)
  }

  /** Everybody who was asked so far, and is willing, is asked again. */
  changed(): void {
    this.#recall()
    this.#passes.want()
  }

  leave(object: KubeObject): void {
    this.#left = object
  }

  #recall(): void {
    for (const key of this.#willing) this.#due.add(key)
    this.#willing.clear()
  }
}
