import type { Commit } from './medium.ts'
import type { StoredValue } from './store.ts'

/** The values of changed keys at an earlier revision. */
export class Undone {
  readonly #keys = new Set<string>()
  /** Those that existed then: most changes of a log create their keys. */
  readonly #values: StoredValue[] = []

  /** Adds commits, oldest first: the first one that changes a key has its earlier value. */
  add(commits: readonly Commit[]): void {
    for (const { events } of commits)
      for (const { key, previous } of events) {
        if (this.#keys.has(key)) continue
        this.#keys.add(key)
        if (previous !== undefined) this.#values.push(previous)
      }
  }

  /** The current values with keys in [from, to), which are sorted, as they were then. */
  corrected(values: readonly StoredValue[], [from, to]: readonly [string, string]): readonly StoredValue[] {
    if (this.#keys.size === 0) return values
    const kept = values.filter(({ key }) => !this.#keys.has(key))
    const restored = this.#values.filter(({ key }) => key >= from && key < to)
    if (restored.length === 0) return kept
    return [...kept, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1))
  }
}
