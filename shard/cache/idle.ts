import type { ResourceCache } from './resource.ts'

/**
 * The caches of resources without objects and events. Tenants choose how many resources there are, so that an idle cache
 * lives only as long as somebody else refers to it.
 */
export class IdleCaches {
  readonly #caches = new Map<string, WeakRef<ResourceCache>>()
  #floor: number

  constructor(floor: number) {
    this.#floor = floor
  }

  /** The revision from which a new cache is complete: those that were collected have forgotten events before. */
  get floor(): number {
    return this.#floor
  }

  /** The idle caches among `caches` move from there to here; those that were collected are forgotten. */
  take(caches: Map<string, ResourceCache>): void {
    this.#sweep()
    for (const [name, cache] of caches) {
      if (!cache.isIdle) continue
      caches.delete(name)
      this.#floor = Math.max(this.#floor, cache.ring.floor)
      this.#caches.set(name, new WeakRef(cache))
    }
  }

  /** The cache that is still referred to; it is here no longer. */
  give(name: string): ResourceCache | undefined {
    const cache = this.#caches.get(name)?.deref()
    this.#caches.delete(name)
    return cache
  }

  #sweep(): void {
    for (const [name, cache] of this.#caches) if (cache.deref() === undefined) this.#caches.delete(name)
  }
}
