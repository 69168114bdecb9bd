import { Pace, pacedMap } from '../../framework/async/awaitable.ts'

/** Items that are sorted at once: less than a millisecond. */
const atOnce = 256

type Compare<T> = (a: T, b: T) => number

/** The items in order; other requests have their turns meanwhile. Stable. */
export async function sorted<T>(items: readonly T[], compare: Compare<T>): Promise<readonly T[]> {
  const starts = Array.from({ length: Math.ceil(items.length / atOnce) }, (_, i) => i * atOnce)
  let runs: readonly (readonly T[])[] = await pacedMap(starts, start =>
    items.slice(start, start + atOnce).sort(compare),
  )
  const pace = new Pace()
  while (runs.length > 1) {
    const next: (readonly T[])[] = []
    for (let i = 0; i < runs.length; i += 2)
      next.push(await merged([runs[i] ?? [], runs[i + 1] ?? []], compare, pace))
    runs = next
  }
  return runs[0] ?? []
}

async function merged<T>(
  [a, b]: readonly [readonly T[], readonly T[]],
  compare: Compare<T>,
  pace: Pace,
): Promise<readonly T[]> {
  const result: T[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const wait = pace.due()
    if (wait !== undefined) await wait
    const isFirst = compare(a[i] as T, b[j] as T) <= 0
    result.push((isFirst ? a[i++] : b[j++]) as T)
  }
  for (; i < a.length; i++) result.push(a[i] as T)
  for (; j < b.length; j++) result.push(b[j] as T)
  return result
}
