import assert from 'node:assert/strict'
import { silent } from '../contract/log.ts'
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
})
