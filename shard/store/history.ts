import type { Medium, Most } from './medium.ts'

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

/**
 * The newest revision after `from` and up to `to` whose commit was made before a time; `from` if there is none. Revisions are
 * consecutive, so the log allows binary search.
 */
export function newestBefore(
  medium: Pick<Medium, 'log'>,
  [from, to]: readonly [from: number, to: number],
  time: number,
): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const [commit] = medium.log(middle - 1, { count: 1, bytes: 1 })
    if (commit !== undefined && commit.time < time) low = middle
    else high = middle - 1
  }
  return low
}
