import assert from 'node:assert/strict'
import { bodyOf, widget } from '../../test/support/widgets.ts'
import { type Item, itemOf } from '../contract/item.ts'
import type { ItemList } from '../contract/storage.ts'
import { atOnce } from '../json/json.ts'
import type { Answer } from '../request/response.ts'
import { itemAnswer, listAnswer } from '../responses/answers.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { encodeMessage, enveloped } from '../wire/protobuf/encode.ts'
import { answerFields, protobufType } from '../wire/protobuf/fields.ts'
import { parseYaml } from '../wire/yaml.ts'
import { type BodyCopy, copied } from './bodies.ts'
import type { AuditEvent } from './event.ts'
import { EventEncoder } from './eventencoder.ts'
import { answeredStatus } from './objects.ts'
import { type AuditRecord, recordSteps, type Unencoded } from './record.ts'
import { SharedRoom } from './sharedroom.ts'

const event = {
  kind: 'Event',
  user: { extra: { a: [], requestReceivedTimestamp: ['forged'] } },
  requestReceivedTimestamp: 'then',
  stageTimestamp: 'now',
} as unknown as AuditEvent
const textOf = (record: AuditRecord): string => Buffer.concat(record.json.pieces).toString()
const refusal = { kind: 'Status', status: 'Failure', message: 'no', reason: 'Forbidden', code: 403 }
const truncated = { 'audit.k8s.io/truncated': 'true' }

describe('the text of an audit event', () => {
  let room: SharedRoom
  beforeEach(() => {
    room = new SharedRoom(1000)
  })

  /** The copy of a body whose chunks were all sent, or only so many of them. */
  async function copyOf(
    chunks: readonly string[],
    more: { flush?: boolean; tidy?: boolean; most?: number } = {},
  ) {
    async function* body(): AsyncGenerator<Buffer> {
      for (const chunk of chunks) yield Buffer.from(chunk)
    }
    const answer: Answer = {
      status: 200,
      contentType: 'application/json',
      body: body(),
      flush: more.flush ?? false,
    }
    const options = { room, user: 'eve', omitManagedFields: more.tidy ?? false }
    const { answer: sent, copy } = copied(answer, options)
    let left = more.most ?? Number.POSITIVE_INFINITY
    for await (const _ of sent.body as AsyncIterable<Buffer>) if (--left === 0) break
    return copy as BodyCopy
  }
  const recorded = (more: Partial<Unencoded>): string =>
    textOf(atOnce(recordSteps({ user: 'eve', event, omitManagedFields: false, ...more })))

  it('has the objects before the timestamps, whatever names a user has chosen', async () => {
    const text = recorded({ requestObject: { a: 1 }, response: await copyOf(['{"b"', ':2}']) })
    const { requestReceivedTimestamp, stageTimestamp, ...before } = event
    const objects = { requestObject: { a: 1 }, responseObject: { b: 2 } }
    assert.equal(text, JSON.stringify({ ...before, ...objects, requestReceivedTimestamp, stageTimestamp }))
  })

  it('has an indented response on one line', async () => {
    const text = recorded({ response: await copyOf(['{\n "a": "x\\n",\r\n', ' "b": 1\n}\n']) })
    assert.doesNotMatch(text, /[\r\n]/)
    assert.deepEqual(JSON.parse(text).responseObject, { a: 'x\n', b: 1 })
  })

  it('has a response in YAML as JSON, also a list', async () => {
    room = new SharedRoom(1_000_000)
    const how = { format: 'yaml', pretty: false } as const
    const small = widget('small', { text: 'a: 1' })
    const large = widget('large', { text: 'x\n'.repeat(50_000) })
    async function* list(): ItemList {
      yield [itemOf(small, 'one'), itemOf(large, 'one')]
      return { resourceVersion: '7' }
    }
    const form = { head: '{"kind":"WidgetList","apiVersion":"example.com/v1","items":[' }
    const whole = { kind: 'WidgetList', apiVersion: 'example.com/v1', items: [small, large] }
    const objectOf = (item: Item): Buffer => item.bytes
    const answers: readonly (readonly [Answer, object])[] = [
      [await itemAnswer(itemOf(small, 'one'), objectOf, how), small],
      [await itemAnswer(itemOf(large, 'one'), objectOf, how), large],
      [await listAnswer(list(), form, how), { ...whole, metadata: { resourceVersion: '7' } }],
      [documentAnswer(refusal, how, 403), refusal],
    ]
    for (const [answer, wanted] of answers) {
      const { answer: sent, copy } = copied(answer, { room, user: 'eve', omitManagedFields: false })
      assert.deepEqual(parseYaml(await bodyOf(sent)).value, wanted)
      const { responseObject, annotations } = JSON.parse(recorded({ response: copy as BodyCopy }))
      assert.deepEqual([responseObject, annotations], [wanted, undefined])
    }
    const { kind: _, ...status } = refusal
    assert.deepEqual(answeredStatus(documentAnswer(refusal, how, 403)), { metadata: {}, ...status })
  })

  it('says that a response in the YAML of another server is missing', () => {
    const answer: Answer = { status: 200, contentType: 'application/yaml', body: Buffer.from('a: 1') }
    const { copy } = copied(answer, { room, user: 'eve', omitManagedFields: false })
    const { responseObject, annotations } = JSON.parse(recorded({ response: copy as BodyCopy }))
    assert.deepEqual([responseObject, annotations], [undefined, truncated])
  })

  /** What is recorded of a response in protobuf. */
  const recordedProtobuf = (body: Buffer, more: Partial<Answer> = {}, tidy = false) => {
    const answer: Answer = { status: 200, contentType: protobufType, body, ...more }
    const { copy } = copied(answer, { room, user: 'eve', omitManagedFields: tidy })
    const { responseObject, annotations } = JSON.parse(recorded({ response: copy as BodyCopy }))
    return { responseObject, annotations }
  }
  const messageOf = (kind: string, value: Record<string, unknown>): Buffer =>
    enveloped({ apiVersion: 'v1', kind }, encodeMessage(answerFields('', kind) ?? new Map(), value))

  it('has a response in protobuf as JSON, also a list', () => {
    const object = { metadata: { name: 'a', managedFields: [{ manager: 'm' }] }, data: { key: 'value' } }
    const type = { apiVersion: 'v1', kind: 'ConfigMap' }
    const body = messageOf('ConfigMap', object)
    assert.deepEqual(recordedProtobuf(body).responseObject, { ...type, ...object })
    const list = { metadata: { resourceVersion: '7' }, items: [object] }
    const whole = { apiVersion: 'v1', kind: 'ConfigMapList', ...list }
    assert.deepEqual(recordedProtobuf(messageOf('ConfigMapList', list)).responseObject, whole)
    const tidy = recordedProtobuf(messageOf('ConfigMapList', list), {}, true).responseObject
    assert.deepEqual(tidy.items, [{ metadata: { name: 'a' }, data: { key: 'value' } }])
  })

  it('has no response of another server that is no protobuf, or has too many values', () => {
    const many = messageOf('DeleteOptions', { dryRun: new Array(200_001).fill('') })
    room = new SharedRoom(many.length)
    for (const body of [Buffer.from('k8s\0\xff'), messageOf('Unknown', {}), many]) {
      const { responseObject, annotations } = recordedProtobuf(body, { flush: true })
      assert.deepEqual([responseObject, annotations], [undefined, truncated])
    }
  })

  it('has the Status of a refusal in protobuf', () => {
    const { kind, ...status } = refusal
    const body = messageOf(kind, status)
    const answer: Answer = { status: 403, contentType: protobufType, body }
    assert.deepEqual(answeredStatus(answer), { metadata: {}, ...status })
    assert.deepEqual(answeredStatus({ ...answer, body: body.subarray(0, 40) }), { metadata: {}, code: 403 })
  })

  it('has no response that this server has not encoded and that is no JSON', async () => {
    const forged = await copyOf(['{}}\n{"kind":"Event"}'], { flush: true })
    const { responseObject, annotations } = JSON.parse(recorded({ response: forged }))
    assert.deepEqual([responseObject, annotations], [undefined, truncated])
    const fine = await copyOf(['{"a": 1}'], { flush: true })
    assert.deepEqual(JSON.parse(recorded({ response: fine })).responseObject, { a: 1 })
  })

  it('says that a response is too long, or was not sent to its end', async () => {
    for (const copy of [
      await copyOf(['"', 'x'.repeat(600), '"']),
      await copyOf(['{"a":', '1}'], { most: 1 }),
    ]) {
      const { responseObject, annotations } = JSON.parse(recorded({ response: copy }))
      assert.deepEqual([responseObject, annotations], [undefined, truncated])
    }
  })

  it('has no managed fields where they are not wanted', async () => {
    const list = JSON.stringify({ items: [{ metadata: { name: 'ä', managedFields: [{}] } }] })
    const response = await copyOf([list.slice(0, 30), list.slice(30)], { tidy: true })
    assert.deepEqual(JSON.parse(recorded({ response })).responseObject, {
      items: [{ metadata: { name: 'ä' } }],
    })
  })

  it('leaves out the objects of an event that is truncated', async () => {
    const record = atOnce(
      recordSteps({ user: 'eve', event, omitManagedFields: false, requestObject: { a: 1 } }),
    )
    const short = record.truncated()
    assert.deepEqual(short && JSON.parse(textOf(short)), { ...event, annotations: truncated })
    assert.equal(short?.truncated(), undefined)
  })
})

describe('large objects of audit events', () => {
  const big = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))
  const pending = { event, omitManagedFields: false, user: 'eve', requestObject: big, sent: 1_000_000 }

  it('are encoded in many steps', () => {
    let steps = 0
    for (const _ of recordSteps(pending)) steps++
    assert.ok(steps > 100, `${steps} steps`)
  })

  it('are encoded later, one event at a time, and the small ones at once', async () => {
    const texts: string[] = []
    const encoder = new EventEncoder(new SharedRoom(4_000_000), record => void texts.push(textOf(record)))
    for (let i = 0; i < 4; i++) encoder.add(pending)
    encoder.add({ ...pending, requestObject: { small: true }, sent: 14 })
    assert.deepEqual(
      texts.map(text => JSON.parse(text).requestObject),
      [{ small: true }],
    )
    await encoder.close()
    const cut = texts.filter(text => JSON.parse(text).annotations)
    assert.deepEqual([texts.length, cut.length, JSON.parse(texts[1] ?? '').requestObject], [5, 2, big])
  })

  it('are those of one user up to half of the memory for them', () => {
    const room = new SharedRoom(100)
    assert.deepEqual([room.take('eve', 50), room.take('eve', 1), room.take('bob', 25)], [true, false, true])
    room.give('eve', 50)
    assert.ok(room.take('bob', 10))
  })
})
