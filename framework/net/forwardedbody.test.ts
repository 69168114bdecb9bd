import assert from 'node:assert/strict'
import { PassThrough, type Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HttpRequest } from '../request/incoming.ts'
import { forwardedBody } from './forwardedbody.ts'

const chunk = (length: number): Buffer => Buffer.alloc(length, 'x')

describe('the body of a forwarded request', () => {
  let request: PassThrough
  let body: Readable
  let failures: (Error & { code?: number })[] = []

  beforeEach(() => {
    request = new PassThrough()
    failures = []
    body = forwardedBody(Object.assign(request, { headers: {} }) as unknown as HttpRequest)
    body.on('error', error => {
      failures.push(error)
    })
  })

  const arrive = (count: number, length: number): void => {
    for (let i = 0; i < count; i++) request.emit('data', chunk(length))
  }
  /** The lengths of the chunks that another server gets. */
  async function forwarded(): Promise<readonly number[]> {
    const lengths: number[] = []
    for await (const { length } of body) lengths.push(length)
    return lengths
  }

  it('joins chunks that arrive together', async () => {
    const lengths = forwarded()
    arrive(1_000, 1)
    await nextTurn()
    arrive(1, 70_000)
    await nextTurn()
    arrive(2, 3)
    request.emit('end')
    assert.deepEqual(await lengths, [1_000, 70_000, 6])
  })

  it('may have any number of chunks that are not small, or that arrive alone', async () => {
    const lengths = forwarded()
    arrive(20_001, 256)
    for (let i = 0; i < 10_001; i++) {
      await nextTurn()
      arrive(1, 1)
    }
    request.end()
    const sum = (await lengths).reduce((a, b) => a + b, 0)
    assert.equal(sum, 20_001 * 256 + 10_001)
  })

  it('is refused with many small chunks that arrive together, and ends with the connection when more follow', async () => {
    body.resume()
    arrive(10_001, 1)
    await nextTurn()
    assert.equal(failures.length, 0)
    arrive(2, 1)
    await nextTurn()
    assert.match(String(failures), /limit of a body is 10000 small chunks/)
    assert.equal(failures.at(-1)?.code, 413)
    assert.equal(request.destroyed, false)
    arrive(20_000, 1)
    assert.equal(request.destroyed, true)
  })

  it('fails when the client leaves', async () => {
    body.resume()
    arrive(1, 1)
    request.destroy()
    while (!body.closed) await nextTurn()
    assert.match(String(failures), /cut off/)
  })

  it('waits for its reader, and is read to its end without one', async () => {
    for (let i = 0; i < 5; i++) {
      request.write(chunk(64 * 1024))
      await nextTurn()
    }
    assert.ok(body.readableLength <= 128 * 1024, `${body.readableLength} bytes`)
    body.destroy()
    request.end()
    await nextTurn()
    assert.equal(request.readableLength, 0)
  })
})
