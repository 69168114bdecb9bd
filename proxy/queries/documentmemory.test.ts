import assert from 'node:assert/strict'
import { DocumentMemory } from './documentmemory.ts'
import { documentOf } from './documents.ts'
import { answering } from './testing/answering.ts'

const refusal = { code: 429, message: /^Too many documents are being read/ }

describe('the documents in memory of a front proxy', () => {
  const readerOf = (account: string) => {
    const over = new AbortController()
    return { over, reader: { account, signal: over.signal } }
  }

  it('are limited for each user, and for all together', () => {
    const memory = new DocumentMemory({ all: 250, each: 100 })
    const [ada, bob, eve] = ['ada', 'bob', 'eve'].map(readerOf)
    assert.ok(ada && bob && eve)
    const [first, second] = [memory.counterFor(ada.reader), memory.counterFor(readerOf('ada').reader)]
    first(60)
    second(40)
    assert.throws(() => second(1), refusal)
    memory.counterFor(bob.reader)(100)
    assert.throws(() => memory.counterFor(eve.reader)(51), refusal)
    memory.counterFor(eve.reader)(50)
    ada.over.abort()
    second(60)
    assert.throws(() => first(1), { name: 'AbortError' })
  })

  it('are counted as they arrive, until the response is complete', async () => {
    const memory = new DocumentMemory({ all: 1_000, each: 100 })
    const { over, reader } = readerOf('ada')
    const parts = [answering(JSON.stringify({ a: 'x'.repeat(80) }), 10)]
    await documentOf(parts, { memory, reader })
    const again = () => documentOf(parts, { memory, reader: readerOf('ada').reader })
    await assert.rejects(again(), refusal)
    over.abort()
    await again()
  })
})
