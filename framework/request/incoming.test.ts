import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type HttpRequest, readRequest } from './incoming.ts'

/** A request over HTTP/2, whose headers begin with the method and the path. */
function requestOn(session: object, { method = 'GET', url = '/', token = 'a' } = {}): HttpRequest {
  const rawHeaders = [':authority', 'localhost', ':method', method, ':path', url]
  rawHeaders.push('authorization', `Bearer ${token}`)
  const headers = {
    ':authority': 'localhost',
    ':method': method,
    ':path': url,
    authorization: `Bearer ${token}`,
  }
  const socket = { remoteAddress: '127.0.0.1' }
  return { method, url, headers, rawHeaders, stream: { session }, socket } as unknown as HttpRequest
}

describe('reading requests of one HTTP/2 connection', () => {
  const session = {}
  const read = (more = {}) => readRequest(requestOn(session, more), {})
  const first = read({ url: '/clusters/root/a' })

  it('shares the headers of the request before, whatever its method and path', () => {
    const second = read({ method: 'DELETE', url: '/clusters/root/b' })
    assert.equal(second.credentials, first.credentials)
    assert.equal(second.headers, first.headers)
    assert.deepEqual([second.method, second.path], ['DELETE', '/clusters/root/b'])
  })

  it('shares them in another order', () => {
    const request = requestOn(session, { url: '/clusters/root/c' })
    const pairs = request.rawHeaders.flatMap((name, i, all) =>
      i % 2 === 0 ? [[name, all[i + 1] ?? '']] : [],
    )
    const reversed = Object.assign(request, { rawHeaders: pairs.reverse().flat() })
    assert.equal(readRequest(reversed, {}).credentials, first.credentials)
  })

  it('does not share those of a request with one of them twice', () => {
    const alone = {}
    const identified = (raw: readonly string[]) => {
      const request = requestOn(alone)
      for (let i = 0; i < raw.length; i += 2) Object.assign(request.headers, { [raw[i] ?? '']: raw[i + 1] })
      request.rawHeaders.push(...raw)
      return readRequest(request, {}).credentials
    }
    const both = identified(['x-remote-user', 'a', 'x-remote-group', 'b'])
    const twice = identified(['x-remote-user', 'a', 'x-remote-user', 'a'])
    assert.notEqual(twice, both)
    assert.notEqual(identified(['x-remote-user', 'a', 'x-remote-group', 'b']), twice)
  })

  it('does not share those of a request with other credentials', () => {
    const other = read({ url: '/clusters/root/a', token: 'b' })
    assert.notEqual(other.credentials, first.credentials)
    assert.equal(other.credentials.headers.authorization, 'Bearer b')
  })
})

describe('reading a request target', () => {
  for (const [url, path, search] of [
    ['https://localhost:6443/clusters/root/a?limit=1', '/clusters/root/a', '?limit=1'],
    ['HTTP://other.example//a/%2e%2e/b', '//a/%2e%2e/b', ''],
    ['https://localhost', '/', ''],
    ['https://localhost?a=/b', '/', '?a=/b'],
    ['/https://localhost/a', '/https://localhost/a', ''],
    ['*', '*', ''],
  ] as const)
    it(`${url} has the path ${path}, as in origin form`, () => {
      const read = readRequest(requestOn({}, { url }), {})
      assert.deepEqual([read.path, read.search], [path, search])
    })
})

/** A request whose body arrives in these chunks. */
function sending(chunks: Iterable<Buffer>): {
  readonly request: HttpRequest
  readonly body: Promise<Buffer>
} {
  const stream = new PassThrough()
  const request = Object.assign(stream, { headers: {}, rawHeaders: [], socket: {} }) as unknown as HttpRequest
  const body = readRequest(request, {}).body(3_000_000)
  for (const chunk of chunks) stream.emit('data', chunk)
  stream.emit('end')
  return { request, body }
}

describe('reading a body', () => {
  const chunksOf = (...lengths: readonly number[]) => lengths.map((length, i) => Buffer.alloc(length, i))

  it('joins chunks of any length', async () => {
    for (const lengths of [
      [],
      [0],
      [1, 2, 3],
      [5_000, 1, 5_000],
      [1, 5_000],
      [4_095, 4_095, 4_095, 4_095, 4_095],
    ])
      assert.deepEqual(await sending(chunksOf(...lengths)).body, Buffer.concat(chunksOf(...lengths)))
  })

  it('ends with many chunks, and then with the connection', async () => {
    const one = Buffer.alloc(1)
    const count = (length: number) => Array.from({ length }, () => one)
    assert.equal((await sending(count(10_000)).body).length, 10_000)
    const refused = sending(count(10_001))
    await assert.rejects(refused.body, { code: 413, message: /limit of a body is 10000 chunks/ })
    assert.equal((refused.request as unknown as PassThrough).destroyed, false)
    const endless = sending(count(20_001))
    await assert.rejects(endless.body, { code: 413 })
    assert.equal((endless.request as unknown as PassThrough).destroyed, true)
  })
})
