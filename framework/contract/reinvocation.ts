import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../meta/object.ts'

/**
 * The passes of one write through mutating admission (`admission.ReinvocationContext` of `k8s.io/apiserver`). There is a
 * second pass when a webhook or policy has changed the object: it calls again those that want it, and is the last.
 */
export class ReinvocationContext {
  readonly #plugins = new Map<string, ReinvokedHooks>()
  #isReinvoke = false
  #shouldReinvoke = false

  /** Whether this is the second pass. */
  get isReinvoke(): boolean {
    return this.#isReinvoke
  }

  /** Begins the second pass if a plugin wanted it; false when there is none. */
  again(): boolean {
    const begins = this.#shouldReinvoke && !this.#isReinvoke
    this.#isReinvoke ||= begins
    return begins
  }

  setShouldReinvoke(): void {
    this.#shouldReinvoke = true
  }

  /** The hooks of one plugin, kept from the first pass to the second. */
  of(plugin: string): ReinvokedHooks {
    const known = this.#plugins.get(plugin) ?? new ReinvokedHooks(this)
    this.#plugins.set(plugin, known)
    return known
  }
}

/** The webhooks or policies that one plugin calls, by keys that the plugin chooses. */
export class ReinvokedHooks {
  readonly #context: ReinvocationContext
  /** Called so far, with `reinvocationPolicy: IfNeeded`. */
  readonly #willing = new Set<string>()
  /** To be called again, because the object has changed since. */
  readonly #due = new Set<string>()
  #left: KubeObject | undefined

  constructor(context: ReinvocationContext) {
    this.#context = context
  }

  /** The object comes to the plugin: other plugins may have changed it since it left. */
  enter(object: KubeObject): void {
    if (this.#context.isReinvoke && !isDeepStrictEqual(this.#left, object)) this.#recall()
  }

  /** Whether a hook is called in this pass. */
  asks(key: string): boolean {
    return !this.#context.isReinvoke || this.#due.has(key)
  }

  /** A hook was called. `changed`: it changed the object; `willing`: it may be called again. */
  asked(key: string, { changed, willing }: { readonly changed: boolean; readonly willing: boolean }): void {
    if (changed) this.changed()
    if (willing) this.#willing.add(key)
  }

  /** The object was changed: all willing hooks so far are called again. */
  changed(): void {
    this.#recall()
    this.#context.setShouldReinvoke()
  }

  leave(object: KubeObject): void {
    this.#left = object
  }

  #recall(): void {
    for (const key of this.#willing) this.#due.add(key)
    this.#willing.clear()
  }
}
