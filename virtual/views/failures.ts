import type { Item } from '../../framework/index.ts'
import { internalError } from '../../framework/meta/errors.ts'
import type { ExpressionFailure } from './types.ts'

/** Up to this number, failures of a field are counted: each version of an object is kept. */
const mostCounted = 1_000

/** Counts the versions of objects for which expressions of one View failed. */
export class Failures {
  readonly #found = new Map<string, ExpressionFailure>()
  readonly #counted = new Map<string, Set<string>>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Throws 500 when the request has no cost left, because the result is not known. */
  refused(
    field: string,
    { failure, isOverBudget }: { readonly failure: string; readonly isOverBudget?: true },
    item: Item,
  ): void {
    if (isOverBudget)
      throw internalError(`the expressions of the View cost too much for one request: ${field}`)
    const counted = this.#counted.get(field) ?? new Set()
    this.#counted.set(field, counted)
    const { uid, resourceVersion } = item.meta
    const version = `${uid}/${resourceVersion}`
    if (counted.has(version) || counted.size >= mostCounted) return
    counted.add(version)
    this.#found.set(field, { field, count: (this.#found.get(field)?.count ?? 0) + 1, reason: failure })
    this.#changed()
  }

  get all(): readonly ExpressionFailure[] {
    return [...this.#found.values()].sort((a, b) => (a.field < b.field ? -1 : 1))
  }
}
