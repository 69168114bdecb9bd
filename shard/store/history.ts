import type { Most } from './medium.ts'

/** How much history stays readable and watchable. Commits younger than `seconds` are kept, within the other limits. */
export interface History {
  readonly seconds: number
  readonly commits: number
  /** Bytes of commits, with the values that they have replaced. */
  readonly bytes: number
}

/** Items up to a limit; at least one if there is one. */
export function upTo<T>(items: Iterable<T>, { count, bytes }: Most, sizeOf: (item: T) => number): T[] {
  const taken: T[] = []
  let size = 0
  for (const item of items) {
    taken.push(item)
    size += sizeOf(item)
    if (taken.length >= count || size >= bytes) break
  }
  return taken
}

/** How many of the first have to go, so that the others are within the limits. */
export function surplus(sizes: readonly number[], { count, bytes }: Most): number {
  let left = sizes.reduce((sum, size) => sum + size, 0)
  let gone = 0
  while (sizes.length - gone > count || left > bytes) left -= sizes[gone++] ?? 0
  return gone
}
