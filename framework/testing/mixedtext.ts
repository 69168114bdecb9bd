/**
 * Characters a and b without an order, for tests: each position needs another state of the automaton of a pattern such as `a[ab]{100}c`.
 */
export function mixedText(length: number, seed: number): string {
  let state = seed + 1
  const next = (): string => {
    state = (state * 48_271) % 2_147_483_647
    return state % 2 === 0 ? 'a' : 'b'
  }
  return Array.from({ length }, next).join('')
}
