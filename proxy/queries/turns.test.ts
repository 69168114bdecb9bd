import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { turnsDuring } from '../../test/support/time/during.ts'
import { configMap } from '../../virtual/query/testing/scene.ts'
import { listParts } from './list.ts'
import { answering, chunksIn, documentIn } from './testing/answering.ts'
import { watchParts } from './watch.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** The turns of the event loop until all is read, and the chunks. */
async function turnsOf(
  bodies: readonly AsyncIterable<Buffer>[],
): Promise<{ readonly turns: number; readonly chunks: readonly Buffer[] }> {
  const read = Promise.all(bodies.map(chunksIn))
  return { turns: await turnsDuring(read), chunks: (await read).flat() }
}

const metadata = { resourceVersion: '5' }
const items = times(3_000, i => configMap(`a${i}`, { text: 'x'.repeat(300) }))
const listText = JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata, items })

describe('a front proxy gives turns to other requests', () => {
  it('between the parts of lists that arrive together', async () => {
    const lists = times(8, () => listParts([answering(listText)], new URLSearchParams()))
    const { turns, chunks } = await turnsOf(lists)
    assert.equal(Buffer.concat(chunks).length > 8 * 1_000_000, true)
    assert.ok(turns >= 7, `${turns} turns`)
  })

  it('between the initial events of watches, which it does not send one by one', async () => {
    const text = items.map(object => `${JSON.stringify({ type: 'ADDED', object })}\n`).join('')
    const { signal } = new AbortController()
    const watch = { query: new URLSearchParams(), signal, pause: 1, isTable: false }
    const watches = times(8, () => watchParts({ ...watch, parts: [answering(text)] }))
    const { turns, chunks } = await turnsOf(await Promise.all(watches))
    assert.equal(Buffer.concat(chunks).length, 8 * text.length)
    assert.ok(turns >= 7, `${turns} turns`)
    assert.ok(chunks.length < 8 * 50, `${chunks.length} chunks`)
  })

  it('between the schemas of two documents, which it does not decode', async () => {
    const schemas = (prefix: string) =>
      Object.fromEntries(times(20_000, i => [`${prefix}${i}`, { type: 'string' }]))
    const texts = ['a', 'b'].map(prefix => JSON.stringify({ components: { schemas: schemas(prefix) } }))
    const parse = mock.method(JSON, 'parse')
    const { body } = await documentIn(texts.map(text => answering(text)))
    const { turns, chunks } = await turnsOf([body as AsyncIterable<Buffer>])
    assert.equal(parse.mock.callCount(), 0)
    parse.mock.restore()
    assert.equal(Object.keys(JSON.parse(Buffer.concat(chunks).toString()).components.schemas).length, 40_000)
    assert.ok(turns >= 3, `${turns} turns`)
  })

  it('and decodes no rows of the Tables of watches', async () => {
    const columnDefinitions = [{ name: 'Text', type: 'string', format: '', description: '', priority: 0 }]
    const row = { cells: ['x'.repeat(100_000)], object: { metadata } }
    const table = (columns: unknown) => ({ kind: 'Table', metadata, columnDefinitions: columns, rows: [row] })
    const events = [columnDefinitions, null].map(columns => ({ type: 'ADDED', object: table(columns) }))
    const text = events.map(event => `${JSON.stringify(event)}\n`).join('')
    const { signal } = new AbortController()
    const watch = { query: new URLSearchParams(), signal, pause: 1, isTable: true }
    const parse = mock.method(JSON, 'parse')
    const { chunks } = await turnsOf([await watchParts({ ...watch, parts: [answering(text)] })])
    const lengths = parse.mock.calls.map(({ arguments: [parsed] }) => String(parsed).length)
    parse.mock.restore()
    assert.ok(
      lengths.every(length => length < 1_000),
      `${lengths}`,
    )
    assert.equal(Buffer.concat(chunks).toString(), text)
  })

  it('and encodes the columns of a Table once, not for each event', async () => {
    const columns = times(50, i => ({
      name: `c${i}`,
      type: 'string',
      format: '',
      description: '',
      priority: 0,
    }))
    const table = (i: number) => ({
      kind: 'Table',
      metadata,
      columnDefinitions: i === 0 ? columns : null,
      rows: [],
    })
    const lines = times(200, i => JSON.stringify({ type: 'ADDED', object: table(i) }))
    const { signal } = new AbortController()
    const watch = { query: new URLSearchParams(), signal, pause: 1, isTable: true }
    const body = await watchParts({ ...watch, parts: [answering(`${lines.join('\n')}\n`)] })
    const stringify = mock.method(JSON, 'stringify')
    const chunks = await chunksIn(body)
    const encoded = stringify.mock.callCount()
    stringify.mock.restore()
    assert.equal(encoded, 1)
    assert.equal(Buffer.concat(chunks).toString(), `${lines.join('\n')}\n`)
  })
})
