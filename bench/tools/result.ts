/** What a measure has to reach: the ratio where there is one, else the value. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

/** One line of the table. */
export interface Row {
  /** Stable: baselines are compared by it. */
  readonly id: string
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** What `value` is divided by, measured in the same run. */
  readonly against?: { readonly what: string; readonly value: number }
  readonly target?: Target
}

export const ratioOf = ({ value, against }: Row): number | undefined =>
  against === undefined ? undefined : value / against.value

/** undefined: there is no target. */
export function reached(row: Row): boolean | undefined {
  const { target } = row
  if (target === undefined) return undefined
  const measured = ratioOf(row) ?? row.value
  return 'atLeast' in target ? measured >= target.atLeast : measured <= target.atMost
}

/** What a benchmark is given. */
export interface Bench {
  /** Says what is being done. */
  progress(text: string): void
}

/** Measures something and returns lines of the table, in order. */
export type Benchmark = (bench: Bench) => Promise<readonly Row[]>
