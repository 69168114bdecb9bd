import assert from 'node:assert/strict'
import { silent } from '../contract/log.ts'
import { type BatchOptions, batchSink } from './batch.ts'
import { AuditMeters } from './meters.ts'
import { AuditRecord, type JsonLine } from './record.ts'

const event = (auditID: string) => new AuditRecord(auditID, [Buffer.from(JSON.stringify({ auditID }))])
const never = 2 ** 30

/** A receiver that records batches, and fails as often as `failures`. */
function receiver(failures = 0) {
  const got: string[][] = []
  const waiting: (() => void)[] = []
  let left = failures
  const send = async (events: readonly JsonLine[]): Promise<void> => {
    if (left-- > 0) throw new Error('not now')
    got.push(events.map(event => JSON.parse(String(event.pieces[0])).auditID))
    for (const wake of waiting.splice(0)) wake()
  }
  const received = async (count: number): Promise<void> => {
    while (got.length < count) await new Promise<void>(resolve => void waiting.push(resolve))
  }
  return { send, got, received }
}

const sinkTo = (send: BatchOptions['send'], more: Partial<BatchOptions> = {}) =>
  batchSink({ ...defaults, send, ...more })

const defaults = {
  log: silent,
  meters: new AuditMeters(),
  buffer: 10,
  bytes: 2000,
  batch: 2,
  batchBytes: 1000,
  wait: never,
  backoff: 1,
  attempts: 3,
  grace: 10_000,
}

describe('audit events in batches', () => {
  it('are sent when a batch is full, in order', async () => {
    const { send, got, received } = receiver()
    const sink = sinkTo(send)
    for (const id of ['a', 'b', 'c', 'd', 'e']) sink.write(event(id))
    await received(2)
    assert.deepEqual(got, [
      ['a', 'b'],
      ['c', 'd'],
    ])
    await sink.close()
    assert.deepEqual(got.at(-1), ['e'])
  })

  it('leave after a while, though they are few', async () => {
    const { send, got, received } = receiver()
    const sink = sinkTo(send, { wait: 1 })
    sink.write(event('a'))
    await received(1)
    assert.deepEqual(got, [['a']])
    await sink.close()
  })

  it('are tried again, and given up', async () => {
    const { send, got, received } = receiver(2)
    const sink = sinkTo(send)
    for (const id of ['a', 'b']) sink.write(event(id))
    await received(1)
    assert.deepEqual(got, [['a', 'b']])
    await sink.close()
    const hopeless = receiver(never)
    const other = sinkTo(hopeless.send)
    other.write(event('a'))
    await other.close()
    assert.deepEqual(hopeless.got, [])
  })

  it('are dropped when the buffer is full, without delaying requests', async () => {
    const lines: object[] = []
    const log = { ...silent, error: (fields: object) => void lines.push(fields) }
    const { send, got } = receiver()
    const sink = sinkTo(send, { buffer: 3, batch: 100, log: log as never })
    for (const id of ['a', 'b', 'c', 'd', 'e']) sink.write(event(id))
    await sink.close()
    assert.deepEqual(got, [['a', 'b', 'c']])
    assert.deepEqual(lines, [{ events: 2 }])
  })

  it('have so many bytes in a batch', async () => {
    const { send, got } = receiver()
    const sink = sinkTo(send, { batch: 100, batchBytes: 2 * event('a').json.length })
    for (const id of ['a', 'b', 'c', 'd', 'e']) sink.write(event(id))
    await sink.close()
    assert.deepEqual(got, [['a', 'b'], ['c', 'd'], ['e']])
  })

  it('are given up soon after the end, when the receiver does not answer', async () => {
    const lines: object[] = []
    const log = { ...silent, error: (fields: object) => void lines.push(fields) } as never
    const sink = sinkTo(() => new Promise(() => undefined), { log, grace: 1 })
    for (const id of ['a', 'b', 'c']) sink.write(event(id))
    await sink.close()
    assert.deepEqual(
      lines.map(line => (line as { events: number }).events),
      [2, 1],
    )
  })
})
