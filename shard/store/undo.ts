import type { Commit } from './medium.ts'
import type { StoredValue } from './store.ts'

/** The values of changed keys at an earlier revision. */
export type Before = Map<string, StoredValue | undefined>

/** Adds commits, oldest first: the first one that changes a key has its earlier value. */
export function undo(before: Before, commits: readonly Commit[]): void {
  for (const { events } of commits) {
    for (const { key, previous } of events) if (!before.has(key)) before.set(key, previous)
  }
}

/** Values with keys in [from, to), replaced by those in `before`; `values` is sorted, and so is the result. */
export function corrected(
  values: readonly StoredValue[],
  before: Before,
  [from, to]: readonly [string, string],
): readonly StoredValue[] {
  if (before.size === 0) return values
  const kept = values.filter(({ key }) => !before.has(key))
  const restored = [...before.values()].filter(
    (value): value is StoredValue => value !== undefined && value.key >= from && value.key < to,
  )
  if (restored.length === 0) return kept
  return [...kept, ...restored].sort((a, b) => (a.key < b.key ? -1 : 1))
}
