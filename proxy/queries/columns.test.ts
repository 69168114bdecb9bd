import assert from 'node:assert/strict'
import { type QueryColumn, rowsWith } from './columns.ts'

/** Columns that count how often their names are read. */
function columns(count: number, prefix: string) {
  const reads = { count: 0 }
  const all = Array.from(
    { length: count },
    (_, i): QueryColumn => ({
      get name() {
        reads.count++
        return `${prefix}${i}`
      },
      type: 'string',
      format: '',
      description: '',
      priority: 0,
    }),
  )
  return { all, reads }
}

describe('the columns of several shards', () => {
  it('are joined without comparing each with each', () => {
    const [own, others] = [columns(1_000, 'a'), columns(1_000, 'b')]
    const convert = rowsWith(own.all, [...own.all, ...others.all])
    assert.ok(own.reads.count + others.reads.count < 10_000, String(own.reads.count))
    const cells = own.all.map((_, i) => i)
    const row = convert(Buffer.from(JSON.stringify({ cells, object: {} })))
    assert.deepEqual(JSON.parse(row.toString()), { cells: [...cells, ...cells.map(() => null)], object: {} })
  })
})
