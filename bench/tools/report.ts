import { type Row, ratioOf, reached } from './result.ts'

/** The values of the committed baseline, by id. */
export interface Baseline {
  readonly taken: string
  readonly machine: string
  readonly rows: Readonly<Record<string, { readonly value: number; readonly ratio?: number }>>
}

const digits = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 3 })

const targetOf = ({ target }: Row): string =>
  target === undefined ? '' : 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`

function baselineOf(row: Row, baseline: Baseline | undefined): string {
  const known = baseline?.rows[row.id]
  if (known === undefined) return ''
  return digits(row.against === undefined ? known.value : (known.ratio ?? known.value))
}

const verdicts = new Map<boolean | undefined, string>([
  [true, 'yes'],
  [false, 'NO'],
])

function cellsOf(row: Row, baseline: Baseline | undefined): readonly string[] {
  const { against } = row
  const ratio = ratioOf(row)
  return [
    row.measure,
    `${digits(row.value)} ${row.unit}`,
    against === undefined ? '' : `${against.what}: ${digits(against.value)}`,
    ratio === undefined ? '' : digits(ratio),
    targetOf(row),
    verdicts.get(reached(row)) ?? '',
    baselineOf(row, baseline),
  ]
}

const header = ['measure', 'value', 'against', 'ratio', 'target', 'reached', 'baseline']

/** A Markdown table, with columns aligned for terminals. */
export function table(rows: readonly Row[], baseline: Baseline | undefined): string {
  const cells = [header, ...rows.map(row => cellsOf(row, baseline))]
  const widths = header.map((_, column) => Math.max(...cells.map(line => line[column]?.length ?? 0)))
  const lineOf = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`
  return [lineOf(header), rule, ...cells.slice(1).map(lineOf)].join('\n')
}

/** The rows as a baseline; rows of benchmarks that did not run are unchanged. */
export function baselineFrom(
  rows: readonly Row[],
  { machine, before }: { readonly machine: string; readonly before: Baseline | undefined },
): Baseline {
  const round = (value: number): number => Number(value.toPrecision(4))
  const taken = rows.map(row => {
    const ratio = ratioOf(row)
    return [row.id, { value: round(row.value), ...(ratio !== undefined && { ratio: round(ratio) }) }] as const
  })
  return {
    taken: new Date().toISOString().slice(0, 10),
    machine,
    rows: { ...before?.rows, ...Object.fromEntries(taken) },
  }
}
