/** Bytes of the events that all rings of a process keep together. */
export const mostHistory = 256 * 1024 * 1024

/** The events of one ring. */
export interface RingHistory {
  readonly bytes: number
  /** Drops the oldest events until at most so many bytes are left. */
  shrink(bytes: number): void
}

/**
 * The bytes of the events of all rings together. At the limit the rings with the most bytes lose their oldest events: tenants choose
 * how many resources there are.
 */
export class Histories {
  /** The sum of the rings, which they keep. */
  bytes = 0
  readonly most: number
  readonly #rings = new Set<RingHistory>()

  constructor(most = mostHistory) {
    this.most = most
  }

  add(ring: RingHistory): void {
    this.#rings.add(ring)
  }

  remove(ring: RingHistory): void {
    if (this.#rings.delete(ring)) this.bytes -= ring.bytes
  }

  /** To be called above the limit. It makes room for more than one event, because it looks at all rings. */
  shrink(): void {
    const heights = Array.from(this.#rings, ({ bytes }) => bytes)
    const level = levelOf(heights, this.most - (this.most >> 5))
    for (const ring of this.#rings) if (ring.bytes > level) ring.shrink(level)
  }
}

/** The level to which the highest have to be lowered so that the sum is `most`. */
function levelOf(heights: readonly number[], most: number): number {
  const highest = [...heights].sort((a, b) => b - a)
  let rest = highest.reduce((sum, height) => sum + height, 0)
  for (const [i, height] of highest.entries()) {
    rest -= height
    const level = (most - rest) / (i + 1)
    if (level >= (highest[i + 1] ?? 0)) return level
  }
  return most
}
