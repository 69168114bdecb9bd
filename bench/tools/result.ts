/** The target of a measurement: for the ratio if there is one, otherwise for the value. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

/** One line of the table. */
export interface Row {
  /** Stable: baselines are compared by it. */
  readonly id: string
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** The divisor of `value`, measured in the same run. */
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

/** The input of a benchmark. */
export interface Bench {
  /** Reports the current step. */
  progress(text: string): void
}

/** Measures something and returns lines of the table, in order. */
export type Benchmark = (bench: Bench) => Promise<readonly Row[]>
