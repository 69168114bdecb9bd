import assert from 'node:assert/strict'
import type { KubeObject } from '../meta/object.ts'
import { withGoTimes } from './gotimes.ts'

const lease = (renewTime: unknown): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'a' },
  spec: { renewTime, holderIdentity: 'me' },
})
const renewed = (renewTime: unknown): unknown =>
  (withGoTimes(lease(renewTime), 'coordination.k8s.io', 'Lease').spec as { renewTime: unknown }).renewTime
const event = (fields: object): KubeObject => ({ apiVersion: 'v1', kind: 'Event', metadata: {}, ...fields })
const seen = (fields: object): object => withGoTimes(event(fields), '', 'Event')

describe('times of built-in kinds (3.39)', () => {
  it('are written in UTC, with the digits that the kind has', () => {
    assert.equal(renewed('2026-01-01T01:30:00.500000+01:00'), '2026-01-01T00:30:00.500000Z')
    assert.equal(renewed('2026-01-01T01:00:00.123456Z'), '2026-01-01T01:00:00.123456Z')
    const read = seen({
      firstTimestamp: '2025-12-31T23:00:00-02:00',
      lastTimestamp: '2026-01-01T00:00:00.75Z',
    })
    assert.deepEqual(
      read,
      event({ firstTimestamp: '2026-01-01T01:00:00Z', lastTimestamp: '2026-01-01T00:00:00Z' }),
    )
  })

  it('do not change other values, and are found in lists and deeper', () => {
    for (const none of [null, 5, undefined]) assert.equal(renewed(none), none)
    assert.deepEqual(withGoTimes(lease('x'), 'example.com', 'Unknown'), lease('x'))
    const lastObservedTime = '2026-01-01T00:00:00.000000+00:00'
    assert.deepEqual(seen({ series: { count: 1, lastObservedTime } }), {
      ...event({}),
      series: { count: 1, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
    })
    const conditions = [{ type: 'a', lastTransitionTime: '2026-01-01T00:00:00+01:00' }]
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: {}, status: { conditions } }
    assert.deepEqual(withGoTimes(namespace, '', 'Namespace').status, {
      conditions: [{ type: 'a', lastTransitionTime: '2025-12-31T23:00:00Z' }],
    })
  })

  // Texts are those of kcp.
  const layout = '2006-01-02T15:04:05.000000Z07:00'
  const refusals: readonly (readonly [text: string, why: string])[] = [
    ['x', `parsing time "x" as "${layout}": cannot parse "x" as "2006"`],
    [
      '2026-01-01T01:00:00.5+01:00',
      `parsing time "2026-01-01T01:00:00.5+01:00" as "${layout}": cannot parse ".5+01:00" as ".000000"`,
    ],
    [
      '2026-01-01T01:00:00.123456789Z',
      `parsing time "2026-01-01T01:00:00.123456789Z" as "${layout}": cannot parse "789Z" as "Z07:00"`,
    ],
    ['2026-02-30T01:00:00.000000Z', 'parsing time "2026-02-30T01:00:00.000000Z": day out of range'],
    ['2026-01-01T01:00:00.000000Z!', 'parsing time "2026-01-01T01:00:00.000000Z!": extra text: "!"'],
  ]
  for (const [text, message] of refusals)
    it(`are refused: ${message}`, () => assert.throws(() => renewed(text), { message }))
})
