import type { Work } from './json.ts'
import { isMembers, keysOf } from './values.ts'

/** Whether two values encode to the same JSON: the order of keys does not matter, and undefined members are absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  if (!isMembers(a) || !isMembers(b)) return false
  let more = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false
    more++
  }
  for (const key in b) if (b[key] !== undefined) more--
  return more === 0
}

/** What `sameJson` returns, in steps. */
export function* sameJsonSteps(a: unknown, b: unknown, work: Work): Generator<void, boolean> {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && (yield* sameItems(a, b, work))
  return isMembers(a) && isMembers(b) && (yield* sameMembers(a, b, work))
}

function* sameItems(a: readonly unknown[], b: readonly unknown[], work: Work): Generator<void, boolean> {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i] && !(yield* sameJsonSteps(a[i], b[i], work))) return false
    if (work.isStepDone()) yield
  }
  return true
}

function* sameMembers(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  work: Work,
): Generator<void, boolean> {
  let more = 0
  for (const key of keysOf(a)) {
    if (work.isStepDone()) yield
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key)) return false
    if (a[key] !== b[key] && !(yield* sameJsonSteps(a[key], b[key], work))) return false
    more++
  }
  for (const key of keysOf(b)) {
    if (work.isStepDone()) yield
    if (b[key] !== undefined) more--
  }
  return more === 0
}
