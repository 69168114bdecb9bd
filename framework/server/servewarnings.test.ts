import assert from 'node:assert/strict'
import { silent } from '../contract/log.ts'
import { Warnings } from '../responses/warnings.ts'
import { createRecording } from './serve.ts'

const warnings = (...texts: readonly string[]): readonly string[] => {
  const record = createRecording(silent, { auditId: '' })
  for (const text of texts) record.warn(text)
  return record.warnings()
}

describe('warnings', () => {
  it('are quoted, and sent once each', () => {
    assert.deepEqual(warnings('a "b" \\', 'c', 'c'), ['299 - "a \\"b\\" \\\\"', '299 - "c"'])
  })

  it('cannot add header lines', () => {
    assert.deepEqual(warnings('a\r\nSet-Cookie: b\0'), ['299 - "aSet-Cookie: b"'])
  })

  it('are shortened and then dropped when there are too many', () => {
    const long = Array.from({ length: 30 }, (_, i) => `${i}`.padEnd(1000, '☃'))
    const sent = warnings(...long).map(text => Buffer.from(text, 'latin1').toString())
    assert.equal(sent.length, 16)
    assert.ok(sent.every(text => [...text].length === '299 - ""'.length + 256))
  })

  it('are kept only as far as they can be sent', () => {
    const kept = new Warnings()
    for (let i = 0; i < 90_000; i++) kept.add(`finalizer ${i} has no domain`)
    assert.ok(kept.size < 1_000, `${kept.size} warnings`)
    assert.equal(kept.headers().length, 155)
  })
})
