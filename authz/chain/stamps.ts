/**
 * How often the objects that decisions are made from have changed, by what they are about: a logical cluster, or a
 * reference to an export. Different things may share a number: then more counts as changed than has.
 */
export interface Stamps {
  changed(about: string): void
  /** Equal to an earlier one only if nothing about it has changed since. */
  of(about: string): Stamp
  isCurrent(stamp: Stamp): boolean
}

export interface Stamp {
  readonly slot: number
  readonly count: number
}

const slots = 4096

export function createStamps(): Stamps {
  const counts = new Float64Array(slots)
  const countAt = (slot: number): number => counts[slot] ?? 0
  return {
    changed(about) {
      const slot = slotOf(about)
      counts[slot] = countAt(slot) + 1
    },
    of(about) {
      const slot = slotOf(about)
      return { slot, count: countAt(slot) }
    },
    isCurrent: ({ slot, count }) => countAt(slot) === count,
  }
}

/** FNV-1a. */
function slotOf(about: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < about.length; i++) hash = Math.imul(hash ^ about.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % slots
}
