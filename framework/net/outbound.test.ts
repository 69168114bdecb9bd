import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
} from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { quiet } from '../../test/support/time/quiet.ts'
import type { UpstreamRequest } from '../contract/upstream.ts'
import type { Listener } from '../server/listener.ts'
import { createOutbound } from './outbound.ts'
import { openFront } from './testing/front.ts'
import { impatientOutbound, outbound, portOf } from './testing/service.ts'

interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

describe('passing requests on', () => {
  let target: Server
  let front: Listener
  let endpoint: UpstreamRequest['endpoint']
  let sender = outbound
  let seen: IncomingMessage | undefined
  let answer: (request: IncomingMessage, response: import('node:http').ServerResponse) => void
  const ended = new AbortController()

  before(async () => {
    target = createServer((asked, response) => {
      seen = asked
      answer(asked, response)
    })
    target.listen(0, '127.0.0.1')
    await once(target, 'listening')
    front = await openFront(({ incoming, lifetime }) => {
      lifetime.follow(ended.signal, 'replaced')
      return Promise.resolve(
        sender.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '/clusters/root:remote' }),
      )
    })
  })
  beforeEach(() => {
    sender = outbound
    endpoint = { url: `http://127.0.0.1:${portOf(target)}/base` }
    answer = (_, response) => response.end('fine')
  })
  after(async () => {
    target.closeAllConnections()
    target.close()
    await front.drain(0)
  })

  async function open(
    path: string,
    headers: OutgoingHttpHeaders = {},
    method = 'GET',
  ): Promise<IncomingMessage> {
    const sent = request({ host: '127.0.0.1', port: front.port, path, method, headers, agent: false })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    sent.on('error', () => undefined)
    return response
  }
  async function ask(path: string, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
    const response = await open(path, headers)
    const body = Buffer.concat(await response.toArray()).toString()
    return { status: response.statusCode ?? 0, headers: response.headers, body }
  }

  it('keeps path and query byte for byte, below the path of the endpoint', async () => {
    assert.equal((await ask('/api/v1/pods?labelSelector=a%3Db&x=%20y+z')).body, 'fine')
    assert.equal(seen?.url, '/base/api/v1/pods?labelSelector=a%3Db&x=%20y+z')
  })

  it('reads the rest of the request body after an early response, so that the connection can be used again', async () => {
    answer = (asked, response) => {
      asked.resume()
      if (asked.url === '/base/large') response.writeHead(413).end('too large')
      else asked.on('end', () => response.end('fine'))
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (path: string, body: Buffer): Promise<string> => {
      const headers = { 'content-length': body.length }
      const sent = request({ host: '127.0.0.1', port: front.port, path, method: 'POST', headers, agent })
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return (await response.toArray()).join('')
    }
    assert.equal(await send('/large', Buffer.alloc(3_000_000)), 'too large')
    assert.equal(await send('/small', Buffer.from('{}')), 'fine')
    agent.destroy()
  })

  it('refuses paths that the next server could read in another way', async () => {
    for (const path of ['/a/../b', '/a/%2e%2e/b', '/a%2fb', '/a//b', '/a%00b', '/./a'])
      assert.equal((await ask(path)).status, 400, path)
  })

  it('removes the identity of the user, and adds the credentials of the endpoint', async () => {
    endpoint = {
      ...endpoint,
      headers: { authorization: 'Bearer stored', 'Impersonate-Group': ['a', 'b, c'] },
    }
    await ask('/x', {
      authorization: 'Bearer mine',
      cookie: 'a=b',
      'x-remote-user': 'root',
      x_remote_group: 'system:masters',
      'impersonate-user': 'root',
      'x-forwarded-for': '10.0.0.1',
      'x-kcp-virtual-resource-hops': '1',
      connection: 'close, x-private',
      'x-private': '1',
      'x-public': '2',
      accept: 'application/json',
    })
    const { host: _, ...headers } = seen?.headers ?? {}
    assert.deepEqual(headers, {
      connection: 'keep-alive',
      accept: 'application/json',
      'x-public': '2',
      authorization: 'Bearer stored',
      'impersonate-group': 'a, b, c',
      'x-kcp-virtual-resource-hops': '2',
    })
    assert.equal(seen?.rawHeaders.filter(name => name === 'Impersonate-Group').length, 2)
  })

  it('does not let a client remove added headers', async () => {
    endpoint = { ...endpoint, headers: { 'impersonate-user': 'prefix:alice' } }
    await ask('/x', { connection: 'impersonate-user, x-kcp-virtual-resource-hops' })
    assert.equal(seen?.headers['impersonate-user'], 'prefix:alice')
  })

  it('keeps cookies of the endpoint back, and brings its redirects home', async () => {
    answer = (_, response) => response.writeHead(302, { 'Set-Cookie': 'a=b', Location: '/base/api/' }).end()
    const inside = await ask('/api')
    assert.deepEqual([inside.status, inside.headers.location], [302, '/clusters/root:remote/api/'])
    assert.equal(inside.headers['set-cookie'], undefined)
    answer = (_, response) => response.writeHead(302, { Location: 'https://169.254.169.254/meta' }).end()
    assert.equal((await ask('/api')).headers.location, undefined)
  })

  it('brings no redirects home that lead out of the endpoint by relative segments', async () => {
    const locationOf = async (location: string): Promise<string | undefined> => {
      answer = (_, response) => response.writeHead(307, { Location: location }).end()
      return (await ask('/api')).headers.location
    }
    for (const out of ['..', '%2e%2E', '.\t.', 'x/../..'])
      for (const way of [
        `/base/${out}/clusters/root/api`,
        `/base\\${out}\\api`,
        `${endpoint.url}/${out}/api`,
      ])
        assert.equal(await locationOf(way), undefined, way)
    assert.equal(await locationOf('/base/a/../b?c=../../d'), '/clusters/root:remote/b?c=../../d')
  })

  it('returns a Status when the endpoint is unreachable, sends large headers, closes the connection or does not respond', async () => {
    const message = async (): Promise<[number, string]> => {
      const { status, body } = await ask('/x', { accept: 'application/json' })
      return [status, JSON.parse(body).message]
    }
    const trouble = (why: string) => `error trying to reach the server behind this endpoint: ${why}`
    answer = (_, response) => response.writeHead(200, { 'x-large': 'a'.repeat(40_000) }).end()
    assert.deepEqual(await message(), [502, trouble('its response headers are too large')])
    answer = ({ socket }) => socket.destroy()
    assert.equal((await message())[0], 502)
    answer = ({ socket }) =>
      void socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
    assert.equal((await message())[0], 502)
    answer = ({ socket }) => void socket.end('nonsense\r\n\r\n')
    assert.deepEqual(await message(), [502, trouble('its response is malformed')])
    sender = impatientOutbound
    answer = () => undefined
    assert.deepEqual(await message(), [
      504,
      'Timeout: the server behind this endpoint has not answered in time',
    ])
    endpoint = { url: 'http://127.0.0.1:1' }
    assert.deepEqual(await message(), [502, trouble('connection refused')])
    endpoint = { url: 'https://10.0.0.1' }
    assert.deepEqual(await message(), [
      503,
      'the URL of the endpoint is refused: its host 10.0.0.1 has no public address',
    ])
  })

  it('takes the origin away from pages of the endpoint, beside its own policy', async () => {
    const policyOf = async (): Promise<string> => String((await ask('/x')).headers['content-security-policy'])
    assert.match(await policyOf(), /^sandbox (?!.*allow-same-origin)/)
    answer = (_, response) => response.setHeader('Content-Security-Policy', "default-src 'self'").end()
    assert.match(await policyOf(), /^default-src 'self', sandbox (?!.*allow-same-origin)/)
  })

  it('does not make half an answer a whole one', async () => {
    answer = ({ socket }, response) => {
      response.writeHead(200)
      response.write('half', () => socket.destroy())
    }
    const response = await open('/x')
    await assert.rejects(response.toArray())
  })

  it('ends an answer that stops in the middle', async () => {
    sender = impatientOutbound
    answer = (_, response) => void response.writeHead(200).write('half')
    await assert.rejects((await open('/x')).toArray())
  })

  it('forwards every event of a watch, and aborts the request when the client leaves', async () => {
    let left: Promise<unknown> | undefined
    let modify = (): unknown => assert.fail('the endpoint was not asked')
    answer = (asked, response) => {
      left = once(asked.socket, 'close')
      response.writeHead(200).write('{"type":"ADDED"}\n')
      modify = () => response.write('{"type":"MODIFIED"}\n')
    }
    const response = await open('/pods?watch=true')
    const chunks = response[Symbol.asyncIterator]()
    assert.equal(String((await chunks.next()).value), '{"type":"ADDED"}\n')
    modify()
    assert.equal(String((await chunks.next()).value), '{"type":"MODIFIED"}\n')
    response.destroy()
    await left
  })

  it('reads the endpoint no faster than the client reads', async () => {
    let written = 0
    answer = (_, response) => {
      const source = Readable.from(pieces(1024), { highWaterMark: 1 })
      source.on('data', chunk => {
        written += chunk.length
      })
      pipeline(source, response).catch(() => undefined)
    }
    const response = await open('/x?watch=1')
    await once(response, 'readable')
    await quiet(() => written)
    assert.ok(written < 32 << 20, `${written} bytes for a client that has not read`)
    response.destroy()
  })

  it('passes large bodies on in either direction without keeping it', async () => {
    const total = 256
    let received = 0
    answer = async (asked, response) => {
      for await (const chunk of asked) received += chunk.length
      await pipeline(Readable.from(pieces(total)), response)
    }
    const before = process.memoryUsage().rss
    const sent = request({ host: '127.0.0.1', port: front.port, path: '/x', method: 'POST', agent: false })
    const sending = pipeline(Readable.from(pieces(total)), sent)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let returned = 0
    for await (const chunk of response) returned += chunk.length
    await sending
    assert.deepEqual([received, returned], [total << 20, total << 20])
    const grown = (process.memoryUsage().rss - before) >> 20
    assert.ok(grown < 200, `memory has grown by ${grown} MiB`)
  })

  it('ends a watch cleanly when the endpoint is removed', async () => {
    answer = (_, response) => void response.writeHead(200).write('{"type":"ADDED"}\n')
    const response = await open('/pods?watch=true')
    await once(response, 'readable')
    ended.abort()
    assert.equal(Buffer.concat(await response.toArray()).toString(), '{"type":"ADDED"}\n')
    assert.equal(response.complete, true)
  })
})

describe('endpoints that must not be reached', () => {
  it('are noticed when a name is connected to', async () => {
    const tcp = createTcpServer(socket => socket.destroy()).listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const strict = createOutbound({ allow: [], allowHttp: true })
    const look = strict.get({ url: `http://localhost:${port}` }, '/', AbortSignal.timeout(5000))
    await assert.rejects(look, { message: /its host localhost has no public address/ })
    tcp.close()
  })
})

/** Mebibytes. */
function* pieces(count: number): Generator<Buffer> {
  const piece = Buffer.alloc(1 << 20, 'x')
  for (let i = 0; i < count; i++) yield piece
}
