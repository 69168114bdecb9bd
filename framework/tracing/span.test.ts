import assert from 'node:assert/strict'
import { formatTraceParent, isChosen, newSpanId, newTraceId, parseTraceParent } from './span.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

describe('the header traceparent', () => {
  it('is read and written', () => {
    for (const [flags, isSampled] of [
      ['01', true],
      ['03', true],
      ['00', false],
    ] as const)
      assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-${flags}`), { traceId, spanId, isSampled })
    const fresh = { traceId: newTraceId(), spanId: newSpanId(), isSampled: true }
    assert.deepEqual(parseTraceParent(formatTraceParent(fresh)), fresh)
  })

  it('is ignored when it is invalid', () => {
    for (const header of [
      undefined,
      '',
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `ff-${traceId}-${spanId}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}-01-more`,
    ])
      assert.equal(parseTraceParent(header), undefined)
  })
})

describe('sampling', () => {
  it('chooses a share of the traces by their identifiers', () => {
    const ids = Array.from({ length: 20_000 }, newTraceId)
    assert.equal(ids.filter(id => isChosen(id, 0)).length, 0)
    assert.equal(ids.filter(id => isChosen(id, 1_000_000)).length, ids.length)
    const tenth = ids.filter(id => isChosen(id, 100_000)).length
    assert.ok(tenth > 1500 && tenth < 2500, String(tenth))
  })
})
