import { CostExceeded, type Meter, spend } from '../values/meter.ts'

/** No text that an expression makes is longer. */
const longest = 20_000_000

/** A text that was made: making it was work. */
export function textOf<T extends string | Uint8Array>(text: T, meter: Meter): T {
  willMake(text.length, meter)
  return text
}

/** Throws before a text is made that would be too long. */
export function willMake(length: number, meter: Meter): void {
  if (length > longest) throw new CostExceeded()
  spend(meter, length >> 4)
}
