import type { Item } from '../../framework/index.ts'
import type { ExpressionFailure } from './types.ts'

/** Counts the versions of objects for which expressions of one View failed. */
export class Failures {
  readonly #found = new Map<string, ExpressionFailure>()
  readonly #counted = new Map<string, WeakSet<Item>>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  count(field: string, reason: string, item: Item): void {
    const counted = this.#counted.get(field) ?? new WeakSet()
    this.#counted.set(field, counted)
    if (counted.has(item)) return
    counted.add(item)
    this.#found.set(field, { field, count: (this.#found.get(field)?.count ?? 0) + 1, reason })
    this.#changed()
  }

  get all(): readonly ExpressionFailure[] {
    return [...this.#found.values()].sort((a, b) => (a.field < b.field ? -1 : 1))
  }
}
