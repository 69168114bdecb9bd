/** The value that a share of the numbers (0 to 1) does not exceed; NaN for none. */
export function percentile(numbers: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(numbers).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (numbers: Iterable<number>): number => percentile(numbers, 0.5)

/**
 * Runs several measurements in turn, `rounds` times, so that disturbances of the machine affect all of them alike.
 * Returns the median of each.
 */
export async function alternate<K extends string>(
  rounds: number,
  measures: Readonly<Record<K, () => Promise<number>>>,
): Promise<Readonly<Record<K, number>>> {
  const names = Object.keys(measures) as K[]
  const taken = new Map<K, number[]>(names.map(name => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const name of names) taken.get(name)?.push(await measures[name]())
  return Object.fromEntries(names.map(name => [name, median(taken.get(name) ?? [])])) as Record<K, number>
}
