import { CostExceeded, type CostTracker, spend } from '../values/costtracker.ts'

/** No text that an expression makes is longer. */
const longest = 20_000_000

/** A text that was made: making it was work. */
export function textOf<T extends string | Uint8Array>(text: T, tracker: CostTracker): T {
  willMake(text.length, tracker)
  return text
}

/** Throws before a text is made that would be too long. */
export function willMake(length: number, tracker: CostTracker): void {
  if (length > longest) throw new CostExceeded()
  spend(tracker, length >> 4)
}
