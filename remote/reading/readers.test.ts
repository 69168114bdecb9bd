import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import type { ItemBatch } from '../../framework/contract/storage.ts'
import { FrameReader } from '../watches/framereader.ts'
import { pieces } from './listing.ts'
import { ListReader } from './listreader.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const object = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('ConfigMap'),
  metadata: fc.record({ annotations: fc.dictionary(text, text), name: text, uid: text }),
  data: fc.dictionary(text, fc.oneof(text, fc.constant('}]"\\'), fc.constant('{["'))),
  list: fc.array(fc.array(fc.integer())),
})
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })

/** Splits a text into pieces of these lengths, repeated. */
function* cut(json: string, lengths: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(json)
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] ?? 1
    yield bytes.subarray(at, at + length)
    at += length
  }
}

function read(json: string, lengths: readonly number[] = [7]) {
  const reader = new ListReader('*')
  const batches: ItemBatch[] = []
  for (const piece of cut(json, lengths)) {
    const batch = reader.push(piece)
    if (batch !== undefined) batches.push(batch)
  }
  return { batches, items: batches.flatMap(batch => [...batch]), head: reader.finish() }
}

describe('ListReader', () => {
  it('finds every item, wherever the pieces end', () => {
    fc.assert(
      fc.property(fc.array(object), sizes, fc.boolean(), (objects, lengths, isSorted) => {
        const items = objects.map(each => JSON.stringify(each))
        const metadata = '"metadata":{"resourceVersion":"7","continue":"[{\\"\\\\"}'
        const json = isSorted
          ? `{"apiVersion":"v1","items":[${items}],"kind":"ConfigMapList",${metadata}}`
          : `{"kind":"ConfigMapList","apiVersion":"v1",${metadata},"items":[${items}]}\n`
        const found = read(json, lengths)
        assert.deepEqual(
          found.items.map(item => item.bytes.toString()),
          items,
        )
        assert.deepEqual(found.head.kind, 'ConfigMapList')
        assert.equal(found.head.metadata.continue, '[{"\\')
        for (const batch of found.batches)
          assert.equal(batch.bytes?.toString(), [...batch].map(item => item.bytes.toString()).join(','))
      }),
    )
  })

  it('decodes metadata only', () => {
    const element =
      '{"data":{"metadata":"x"},"metadata":{"name":"a","namespace":"n","labels":{"l":"1"},"uid":"u","annotations":{"kcp.io/cluster":"one"}},"z":broken}'
    const [item] = read(`{"items":[${element}]}`).items
    assert.deepEqual(item?.key, { cluster: 'one', namespace: 'n', name: 'a' })
    assert.deepEqual([item?.meta.uid, item?.meta.labels], ['u', { l: '1' }])
  })

  it('adds the list’s apiVersion and kind to items without them', () => {
    const list =
      '{"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}'
    assert.deepEqual(
      read(list).items.map(item => item.bytes.toString()),
      ['a', 'b'].map(name => `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"${name}"}}`),
    )
  })

  it('reads absent items and null as an empty list', () => {
    for (const items of ['[]', 'null']) {
      const { batches, head } = read(`{"kind":"List","items":${items},"metadata":{"resourceVersion":"3"}}`)
      assert.deepEqual([batches, head.metadata.resourceVersion], [[], '3'])
    }
  })

  for (const broken of ['', 'not JSON', '{"items":[{"metadata":{}}', '{"items":[{"metadata":{}'])
    it(`refuses ${JSON.stringify(broken)}`, () => {
      assert.throws(() => read(broken), SyntaxError)
    })
})

describe('pieces', () => {
  it('contain the whole response, and are not shorter than the limit', async () => {
    const random = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(random, fc.constantFrom(1, 30_000, 90_000), async (texts, times) => {
        const sent = texts.map(text => Buffer.alloc(text.length * times, text))
        const read: Buffer[] = []
        for await (const piece of pieces(Readable.from(sent))) read.push(piece)
        assert.ok(Buffer.concat(read).equals(Buffer.concat(sent)))
        for (const piece of read.slice(0, -1)) assert.ok(piece.length >= 128 * 1024)
      }),
    )
  })
})

describe('FrameReader', () => {
  it('finds every event, wherever the pieces end', () => {
    fc.assert(
      fc.property(fc.array(object), sizes, (objects, lengths) => {
        const reader = new FrameReader('*')
        const stream = objects.map(each => `{"type":"MODIFIED","object":${JSON.stringify(each)}}\n`).join('')
        const found = [...cut(stream, lengths)].flatMap(piece => reader.push(piece).events)
        assert.deepEqual(
          found.map(({ type, item }) => [type, item.bytes.toString()]),
          objects.map(each => ['MODIFIED', JSON.stringify(each)]),
        )
      }),
    )
  })

  it('reads members in any order', () => {
    const { events } = new FrameReader('one').push(
      Buffer.from('{ "object" : {"metadata":{"name":"a"}} , "type":"ADDED" }\n'),
    )
    assert.deepEqual(
      events.map(({ type, item }) => [type, item.key.name]),
      [['ADDED', 'a']],
    )
  })

  it('ends with an error, after the events before it', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' }
    const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n'
    const { events, error } = new FrameReader('*').push(
      Buffer.from(`${bookmark}{"type":"ERROR","object":${JSON.stringify(status)}}\n`),
    )
    assert.equal(events[0]?.item.meta.resourceVersion, '9')
    assert.deepEqual([error?.code, error?.reason, error?.message], [410, 'Expired', 'too old'])
  })
})
