import { lineText } from './terminaltext.ts'

/** Rows of texts as lines with aligned columns, which the gap separates. */
export function columnsText(texts: readonly (readonly string[])[], gap = '  '): string {
  const rows = texts.map(row => row.map(lineText))
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map(row => (row[i] ?? '').length)))
  const lineOf = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(gap)
      .trimEnd()
  return rows.map(row => `${lineOf(row)}\n`).join('')
}
