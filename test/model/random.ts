/** Random values of one run: the same seed gives the same world, so that a failure can be repeated. */
export interface Random {
  /** From 0 to `below` - 1. */
  number(below: number): number
  chance(of: number): boolean
  pick<T>(from: readonly T[]): T
  /** Up to `most` of them, in any order, possibly with repetitions. */
  some<T>(from: readonly T[], most: number): readonly T[]
}

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const number = (below: number): number => Math.floor(next() * below)
  const pick = <T>(from: readonly T[]): T => from[number(from.length)] as T
  return {
    number,
    chance: of => next() < of,
    pick,
    some: (from, most) => Array.from({ length: number(most + 1) }, () => pick(from)),
  }
}
