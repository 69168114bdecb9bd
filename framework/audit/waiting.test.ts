import assert from 'node:assert/strict'
import { type Logger, silent } from '../contract/log.ts'
import type { AuditEvent } from './event.ts'
import { AuditMeters } from './meters.ts'
import { AuditRecord } from './record.ts'
import { truncating } from './truncate.ts'
import { WaitingEvents } from './waiting.ts'

const event = { auditID: 'a' } as AuditEvent
const large = (bytes: number, user = 'eve') => new AuditRecord(user, [Buffer.alloc(bytes)], event)
const truncatedLength = large(1).truncated()?.json.length ?? 0
const plain = (bytes: number, user = 'eve') => new AuditRecord(user, [Buffer.alloc(bytes)])

/** Counts what is lost, and what is logged. */
function counting() {
  const lost: Record<string, number> = {}
  const lines: object[] = []
  const meters = new AuditMeters()
  meters.measure(({ name }) => ({ plugin = '' }, events) => {
    if (name === 'apiserver_audit_error_total') lost[plugin] = (lost[plugin] ?? 0) + events
  })
  const log = { ...silent, error: (fields: object) => void lines.push(fields) } as unknown as Logger
  return { lost, lines, meters, log }
}

describe('audit events that wait', () => {
  it('lose their objects when these have used up three quarters of the memory, then are dropped', () => {
    const { lost, lines, ...common } = counting()
    const waiting = new WaitingEvents({ ...common, plugin: 'buffered', buffer: 100, bytes: 1000 })
    for (const user of ['ann', 'bob', 'eve']) waiting.add(large(350, user))
    assert.deepEqual([waiting.count, waiting.bytes], [3, 700 + truncatedLength])
    waiting.add(plain(1000 - waiting.bytes))
    waiting.add(plain(1))
    waiting.report()
    assert.deepEqual([waiting.bytes, lost, lines], [1000, { buffered: 1 }, [{ events: 1 }, { events: 1 }]])
  })

  it('are at most half of the events, and of the bytes with objects, of one user', () => {
    const { lost, lines, ...common } = counting()
    const waiting = new WaitingEvents({ ...common, plugin: 'buffered', buffer: 8, bytes: 1000 })
    waiting.add(large(370))
    waiting.add(large(370))
    for (let i = 0; i < 4; i++) waiting.add(plain(1))
    waiting.add(large(370, 'ann'))
    waiting.report()
    assert.deepEqual([waiting.count, waiting.bytes], [5, 740 + truncatedLength + 2])
    assert.deepEqual([lost, lines], [{ buffered: 2 }, [{ events: 2 }, { events: 1 }]])
    waiting.remove(5)
    for (let i = 0; i < 5; i++) waiting.add(plain(1))
    assert.equal(waiting.count, 4)
  })

  it('are taken in portions of so many events and bytes, and one at least', () => {
    const waiting = new WaitingEvents({ ...counting(), plugin: 'log', buffer: 4, bytes: 10_000 })
    for (const [i, bytes] of [500, 10, 10, 10, 10].entries()) waiting.add(plain(bytes, `user-${i}`))
    assert.equal(waiting.first({ events: 9, bytes: 100 }).length, 1)
    waiting.remove(1)
    assert.equal(waiting.first({ events: 2, bytes: 100 }).length, 2)
    assert.equal(waiting.first({ events: 9, bytes: 25 }).length, 2)
    assert.deepEqual([waiting.count, waiting.bytes], [3, 30])
  })
})

describe('truncated audit events', () => {
  it('have no objects, and are dropped if they are too large without them', () => {
    const { lost, ...common } = counting()
    const got: AuditRecord[] = []
    const sink = { write: (record: AuditRecord) => void got.push(record), close: async () => undefined }
    const short = truncating(sink, { ...common, maxEventSize: 100 })
    for (const record of [plain(100), large(100), large(101), plain(101)]) short.write(record)
    assert.deepEqual(
      got.map(({ json }) => json.length),
      [100, 100, truncatedLength],
    )
    assert.deepEqual(lost, { truncate: 1 })
  })
})
