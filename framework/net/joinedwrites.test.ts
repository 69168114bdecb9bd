import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, get } from 'node:http'
import { createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { serve } from '../server/serve.ts'
import { JoinedWrites } from './joinedwrites.ts'
import { outbound, portOf, service } from './testing/service.ts'

const chunk = (length: number): Buffer => Buffer.alloc(length, 'x')

describe('the body of a forwarded response', () => {
  /** The lengths of what is written; the last one ends the response. */
  let written: number[] = []
  let calls: string[] = []
  let takesMore = true
  let drained = (): void => undefined
  let writes: JoinedWrites
  beforeEach(() => {
    written = []
    calls = []
    takesMore = true
    const write = (part?: Buffer): boolean => {
      written.push(part?.length ?? 0)
      return takesMore
    }
    const once = (_: string, done: () => void): void => {
      drained = done
    }
    const source = { pause: () => calls.push('pause'), resume: () => calls.push('resume') }
    writes = new JoinedWrites({ write, end: write, once } as never, source)
  })

  it('has small chunks that arrive together in one write', async () => {
    for (let i = 0; i < 999; i++) writes.write(chunk(1))
    assert.deepEqual(written, [])
    await nextTurn()
    assert.deepEqual([written, calls], [[999], []])
  })

  it('waits for the next turn when many chunks arrive together', async () => {
    for (let i = 0; i < 1_000; i++) writes.write(chunk(1))
    assert.deepEqual(calls, ['pause'])
    await nextTurn()
    assert.deepEqual([written, calls], [[1_000], ['pause', 'resume']])
  })

  it('waits until the client has read', async () => {
    takesMore = false
    for (let i = 0; i < 1_000; i++) writes.write(chunk(1))
    await nextTurn()
    assert.deepEqual(calls, ['pause', 'pause'])
    drained()
    assert.deepEqual(calls, ['pause', 'pause', 'resume'])
  })

  it('has large chunks as they arrive, in their order', async () => {
    for (const length of [4_096, 1, 5_000]) writes.write(chunk(length))
    assert.deepEqual(written, [4_096])
    await nextTurn()
    assert.deepEqual(written, [4_096, 5_001])
  })

  it('ends with what has arrived, or forgets it', async () => {
    writes.write(chunk(1))
    writes.drop()
    writes.write(chunk(2))
    writes.end(chunk(3))
    await nextTurn()
    assert.deepEqual(written, [5])
  })

  it('is written a few times when the other server sends many chunks of a byte', async () => {
    const chunks = 50_000
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const upstream = createServer(socket =>
      socket.once('data', () => socket.end(`${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`)),
    ).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    let count = 0
    const front = createHttpServer((request, response) => {
      const { write } = response
      response.write = ((...args: Parameters<typeof write>) => {
        count++
        return write.apply(response, args)
      }) as typeof write
      const endpoint = { url: `http://127.0.0.1:${portOf(upstream as never)}` }
      void serve(service, { request, response }, ({ incoming }) =>
        outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '/here' }),
      )
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const [answer] = await once(get(`http://127.0.0.1:${portOf(front)}/`), 'response')
    let length = 0
    for await (const part of answer) length += part.length
    assert.equal(length, chunks)
    assert.ok(count < chunks / 100, `${count} writes`)
    front.close()
    upstream.close()
  })
})
