import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { EndlessBody, endlessLists, endlessWatches } from '../../remote/testing/endless.ts'
import { ElementsReader } from './elements.ts'
import { listParts } from './list.ts'
import type { ShardPart } from './part.ts'
import { watchParts } from './watch.ts'

const partOf = (body: EndlessBody): ShardPart => ({
  shard: 'alpha',
  ask: async () => ({ statusCode: 200, headers: {}, body }) as never,
})

async function read(values: AsyncGenerator<Buffer, void>): Promise<readonly Buffer[]> {
  const all: Buffer[] = []
  for await (const value of values) all.push(value)
  return all
}

function isBounded(body: EndlessBody): void {
  assert.ok(body.read < 20 * 1024 * 1024, `${body.read} bytes were read`)
  assert.ok(body.isClosed)
}

describe('a query of a shard that sends without end', () => {
  for (const [what, head] of Object.entries(endlessLists))
    it(`ends its list with an error: ${what}`, async () => {
      const body = new EndlessBody(head)
      const list = listParts([partOf(body)], new URLSearchParams())
      await assert.rejects(read(list), { code: 502, message: /has more than \d+ bytes/ })
      isBounded(body)
    })

  for (const [what, head] of Object.entries(endlessWatches))
    it(`ends its watch with an error: ${what}`, async () => {
      const body = new EndlessBody(head)
      const watch = { query: new URLSearchParams(), pause: 1, isTable: false }
      const { signal } = new AbortController()
      const events = await watchParts({ ...watch, parts: [partOf(body)], signal })
      const lines = (await read(events)).map(String)
      const { type, object } = JSON.parse(lines.at(-1) ?? '')
      assert.deepEqual([type, object.code], ['ERROR', 502])
      assert.match(object.message, /an event in its response has more than \d+ bytes/)
      isBounded(body)
    })

  it('copies what is before its elements once, however many lists that has', async () => {
    const others = Array.from({ length: 10_000 }, (_, i) => `"a${i}":[]`).join()
    const reader = new ElementsReader()
    const copied = mock.method(Buffer, 'concat')
    reader.push(Buffer.from(`{"kind":"ConfigMapList",${others},"it`))
    const elements = reader.push(Buffer.from(`ems":[{"metadata":{}}],${others}}`))
    assert.deepEqual(elements.map(String), ['{"metadata":{}}'])
    assert.ok(copied.mock.callCount() < 10)
    copied.mock.restore()
  })
})
