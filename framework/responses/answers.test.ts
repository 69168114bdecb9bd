import assert from 'node:assert/strict'
import fc from 'fast-check'
import { bodyOf, widget } from '../../test/support/widgets.ts'
import type { Served } from '../contract/apis.ts'
import { type Item, type ItemEvent, itemOf, metaOf, relabeledItem } from '../contract/item.ts'
import { silent } from '../contract/log.ts'
import type { ItemBatch, ItemList } from '../contract/storage.ts'
import { StatusError, serviceUnavailable } from '../meta/errors.ts'
import { decodeObject } from '../wire/encode.ts'
import { itemAnswer, listAnswer } from './answers.ts'
import { eventForm, listForm, objectForm } from './forms.ts'
import { encodeEvents, jsonFrames, protobufFrames, watchStream } from './watchstream.ts'

const form = { head: '{"items":[' }
const plain = { format: 'json', pretty: false } as const

const none = new URLSearchParams()
const keys = 40_000
const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 'v']))
const { bytes } = itemOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data }, 'one')
/** Decoded at each use. */
const large: Item = {
  key: { cluster: 'one', namespace: 'default', name: 'a' },
  meta: metaOf({ name: 'a' }, { cluster: 'one', namespace: 'default', name: 'a' }),
  bytes,
  get object() {
    return decodeObject(bytes)
  },
}
const configMaps = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: { custom: false, names: { listKind: 'ConfigMapList' } },
} as unknown as Served

/** The result of `work`, and how many turns of the event loop others had meanwhile. */
async function turnsDuring<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: number }> {
  let [turns, isWaiting] = [0, true]
  const count = (): void => {
    turns++
    if (isWaiting) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isWaiting = false
  return { result, turns }
}

const joined = (items: readonly Item[]): ItemBatch =>
  Object.assign([...items], { bytes: Buffer.from(items.map(item => item.bytes.toString()).join(',')) })

async function* listOf(batches: readonly ItemBatch[]): ItemList {
  yield* batches
  return { resourceVersion: '7', continue: 'c' }
}

describe('listAnswer', () => {
  it('writes any batches as one list, in chunks that are neither tiny nor huge', async () => {
    const item = fc.record({ size: fc.nat(3000), rewritten: fc.boolean(), text: fc.string() })
    const batch = fc.record({
      contiguous: fc.boolean(),
      items: fc.array(item, { maxLength: 60 }),
      times: fc.integer({ min: 1, max: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 5 }), async shapes => {
        const batches = shapes.map(({ contiguous, items, times }) => {
          const all = items.map(({ size, rewritten, text }) => {
            const item = itemOf(widget('w', { text, fill: 'x'.repeat(size * times) }), 'one')
            return rewritten ? relabeledItem(item, { annotations: { text } }) : item
          })
          return contiguous ? joined(all) : all
        })
        const answer = await listAnswer(listOf(batches), form, plain)
        const expected = batches.flatMap(batch => [...batch].map(item => JSON.parse(item.bytes.toString())))
        assert.deepEqual(JSON.parse(await bodyOf(answer)), {
          items: expected,
          metadata: { resourceVersion: '7', continue: 'c' },
        })
      }),
      { numRuns: 50 },
    )
  })

  it('is one buffer with a length when it is short', async () => {
    const { body } = await listAnswer(listOf([[itemOf(widget('a'), 'one')]]), form, plain)
    assert.ok(Buffer.isBuffer(body))
  })

  it('passes contiguous batches on without copying them', async () => {
    const bytes = Buffer.alloc(600_000, 0x20)
    const batch = Object.assign([itemOf(widget('a'), 'one')], { bytes })
    const { body } = await listAnswer(listOf([batch]), form, plain)
    assert.ok(!Buffer.isBuffer(body))
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    assert.deepEqual(
      chunks.filter(chunk => chunk.buffer === bytes.buffer).map(chunk => chunk.length),
      [262_144, 262_144, 600_000 - 2 * 262_144],
    )
  })

  it('fails as a whole before the first batch, and in the stream after it', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async function* early(): ItemList {
      throw serviceUnavailable('no')
    }
    await assert.rejects(listAnswer(early(), form, plain), StatusError)
    async function* late(): ItemList {
      yield Object.assign([itemOf(widget('a'), 'one')], { bytes: Buffer.alloc(70_000) })
      throw serviceUnavailable('no')
    }
    const answer = await listAnswer(late(), form, plain)
    await assert.rejects(bodyOf(answer), StatusError)
  })

  for (const [what, more] of [
    ['that are computed', {}],
    ['of a Table', { element: (item: Item) => Buffer.from(JSON.stringify(item.object.kind)) }],
  ] as const)
    it(`gives others their turns between the large objects of a batch ${what}`, async () => {
      const computed: Item = {
        ...large,
        get bytes() {
          return Buffer.from(String(decodeObject(bytes).kind))
        },
        get object() {
          return decodeObject(bytes)
        },
      }
      const batch = Array.from({ length: 8 }, () => computed)
      const { turns } = await turnsDuring(() => listAnswer(listOf([batch]), { ...form, ...more }, plain))
      assert.ok(turns > 4, `${turns} turns`)
    })

  it('converts one large object in a turn, also of lists whose objects arrive together', async () => {
    let [inTurn, most] = [0, 0]
    const element = (): Buffer => {
      if (inTurn++ === 0)
        setImmediate(() => {
          inTurn = 0
        })
      most = Math.max(most, inTurn)
      for (const end = performance.now() + 3; performance.now() < end; );
      return Buffer.from('{}')
    }
    const lists = Array.from({ length: 10 }, () =>
      listAnswer(listOf([[large], [large]]), { ...form, element }, plain),
    )
    for (const answer of await Promise.all(lists)) await bodyOf(answer)
    assert.equal(most, 1)
  })

  it('gives others their turns while it encodes a list whose length is first', async () => {
    // biome-ignore lint/correctness/useYield: short elements have one step
    function* slow(item: Item): Generator<void, Buffer> {
      for (const end = performance.now() + 1; performance.now() < end; );
      return item.bytes
    }
    const items = Array.from({ length: 30 }, () => itemOf(widget('a'), 'one'))
    const whole = { element: slow, encode: (elements: readonly Buffer[]) => Buffer.concat(elements) }
    const { result, turns } = await turnsDuring(() => listAnswer(listOf([items]), { head: '', whole }, plain))
    const { body } = result
    assert.ok(turns > 2, `${turns} turns`)
    assert.ok(Buffer.isBuffer(body))
    assert.equal(
      body.length,
      items.reduce((sum, { bytes }) => sum + bytes.length, 0),
    )
  })

  for (const format of ['protobuf', 'yaml'] as const)
    it(`gives others their turns while it encodes a large object in ${format}`, async () => {
      const { result, turns } = await turnsDuring(async () => {
        const answer = await itemAnswer(large, objectForm(configMaps, { format, pretty: false }, none), {
          format,
          pretty: false,
        })
        return bodyOf(answer)
      })
      assert.ok(turns > 2, `${turns} turns`)
      assert.ok(result.length > keys)
    })

  it('gives others their turns while it encodes the large objects of a list in protobuf', async () => {
    const how = { format: 'protobuf', pretty: false } as const
    const { turns } = await turnsDuring(() =>
      listAnswer(listOf([[large]]), listForm(configMaps, how, none), how),
    )
    assert.ok(turns > 2, `${turns} turns`)
  })

  it('gives others their turns while it encodes the large objects of events in protobuf', async () => {
    const how = { format: 'protobuf', pretty: false } as const
    const form = eventForm(configMaps, how, none)
    const encoding = { framing: protobufFrames, form, isShared: true }
    const events = [{ type: 'ADDED', item: large }] as const
    const { turns, result } = await turnsDuring(async () => encodeEvents(events, encoding))
    assert.ok(turns > 2, `${turns} turns`)
    assert.equal(await encodeEvents(events, encoding), result)
  })

  it('sends the initial events of a watch in parts of few bytes', async () => {
    const item = { key: large.key, meta: large.meta, bytes: Buffer.alloc(600_000), object: widget('a') }
    const events = [...Array.from({ length: 5 }, () => ({ type: 'ADDED', item }) as const)]
    async function* watch(): AsyncGenerator<readonly ItemEvent[], void> {
      yield events
    }
    const parts: number[] = []
    const watching = watch()
    const encoding = { framing: jsonFrames, isShared: false }
    const { signal } = new AbortController()
    for await (const part of watchStream({
      watch: watching,
      first: watching.next(),
      encoding,
      signal,
      log: silent,
    }))
      parts.push(part.length)
    assert.equal(parts.length, events.length)
  })

  it('ends the list when the client does not read', async () => {
    let isOpen = true
    async function* list(): ItemList {
      try {
        for (;;) yield Object.assign([itemOf(widget('a'), 'one')], { bytes: Buffer.alloc(70_000) })
      } finally {
        isOpen = false
      }
    }
    const { body } = await listAnswer(list(), form, plain)
    assert.ok(!Buffer.isBuffer(body))
    await body[Symbol.asyncIterator]().return?.()
    assert.equal(isOpen, false)
  })
})
