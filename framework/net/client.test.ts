import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { mock } from 'node:test'
import tlsModule from 'node:tls'
import { testCertificates } from '../../test/support/wire.ts'
import { createAddressPolicy } from './addresspolicy.ts'
import { headOf, jsonIn } from './bodies.ts'
import { createClient, type HttpClient } from './client.ts'
import { problemOf } from './failure.ts'
import { fetchOnce, fetchText } from './fetch.ts'

const limits = { bytes: 1_000, timeout: 5_000 }

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, and suites of TLS_DHE_RSA (registry of IANA). */
const ecdheRsa = 0xc02f
const dheRsa = [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa]

/** The cipher suites of a ClientHello (RFC 8446, section 4.1.2). */
function ciphersIn(hello: Buffer): readonly number[] {
  const session = 5 + 4 + 2 + 32
  const start = session + 1 + hello.readUInt8(session)
  return Array.from({ length: hello.readUInt16BE(start) / 2 }, (_, i) =>
    hello.readUInt16BE(start + 2 + 2 * i),
  )
}

describe('the outgoing HTTP client', () => {
  let server: Server
  let origin: string
  let client: HttpClient
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const sockets = new Set<Socket>()
  before(async () => {
    server = createServer((request, response) => answer(request, response)).on('connection', socket =>
      sockets.add(socket),
    )
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(() => {
    sockets.clear()
    client = createClient({ headers: { authorization: 'Bearer x' } })
  })
  afterEach(() => client.destroy())
  after(() => void server.close())

  const reasonOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => assert.fail('there was a response'),
      error => problemOf(error, 'here').reason,
    )

  it('keeps connections, and sends its headers with every request', async () => {
    answer = ({ headers, url, method }, response) =>
      void response.end(JSON.stringify([method, url, headers.authorization, headers.accept]))
    for (const path of ['/a?b=c', '/d', '/e', '/f'])
      assert.deepEqual(
        jsonIn((await fetchText(client, { origin, path, headers: { accept: 'x' } }, limits)).text),
        ['GET', path, 'Bearer x', 'x'],
      )
    assert.ok(sockets.size < 4, 'connections are used again')
  })

  it('opens a connection for each single request, and follows no redirect', async () => {
    answer = (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end('moved')
    for (let i = 1; i <= 2; i++) {
      const { status, text } = await fetchOnce(`${origin}/`, {}, { limits })
      assert.deepEqual([status, text, sockets.size], [302, 'moved', i])
    }
  })

  it('reads its certificates once, not for each connection', async () => {
    const { tls } = testCertificates()
    const secure = createSecureServer(tls, (_, response) => void response.end())
    await new Promise<void>(done => secure.listen(0, '127.0.0.1', done))
    const at = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`
    const trusting = createClient({ tls: { ca: tls.clientCA }, keepAlive: 0 })
    const read = mock.method(tlsModule, 'createSecureContext')
    for (const path of ['/a', '/b'])
      assert.equal((await fetchText(trusting, { origin: at, path }, limits)).status, 200)
    const own = read.mock.calls.filter(({ arguments: [options] }) => options?.ca === tls.clientCA)
    assert.ok(own.length <= 1, `${own.length} times`)
    read.mock.restore()
    await trusting.destroy()
    secure.close()
  })

  it('refuses long responses, and reads the beginning of one where that is enough', async () => {
    answer = (_, response) => void response.end('x'.repeat(1_001))
    await assert.rejects(fetchText(client, { origin, path: '/' }, limits), /the response is too large/)
    const { body } = await client.request({ origin, path: '/', signal: AbortSignal.timeout(5_000) })
    assert.equal(await headOf(body, 10), 'x'.repeat(10))
  })

  it('gives up when a response takes too long, or when the caller does', async () => {
    answer = (_, response) => void response.writeHead(200).write('x')
    const slow = { bytes: 1_000, timeout: 50 }
    assert.equal(
      await reasonOf(fetchText(client, { origin, path: '/' }, slow)),
      'it has not answered in time',
    )
    const stop = new AbortController()
    answer = () => stop.abort(new Error('the caller is gone'))
    const asked = fetchText(client, { origin, path: '/', signal: stop.signal }, limits)
    await assert.rejects(asked, /the caller is gone/)
  })

  it('sends a GET again when a kept connection was closed meanwhile, and nothing else', async () => {
    let closes = 1
    answer = (request, response) => {
      if (closes-- > 0) request.socket.destroy()
      else response.end('again')
    }
    assert.equal((await fetchText(client, { origin, path: '/' }, limits)).text, 'again')
    closes = 1
    await assert.rejects(fetchText(client, { origin, path: '/', method: 'POST', body: 'x' }, limits))
  })

  it('offers no key exchange in a group that the server makes', async () => {
    const { tls } = testCertificates()
    const hellos: Buffer[] = []
    const listener = createTcpServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', data => {
        hellos.push(data)
        socket.destroy()
      })
    })
    await new Promise<void>(done => listener.listen(0, '127.0.0.1', done))
    const url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}/`
    for (const trusted of [{}, { tls: { ca: tls.cert } }])
      await assert.rejects(fetchOnce(url, {}, { limits, ...trusted }))
    listener.close()
    assert.ok(hellos.length >= 2)
    for (const hello of hellos) {
      const offered = ciphersIn(hello)
      assert.ok(offered.includes(ecdheRsa))
      assert.deepEqual(
        offered.filter(cipher => dheRsa.includes(cipher)),
        [],
      )
    }
  })

  it('opens no connections for requests that were aborted', async () => {
    const aborting = new AbortController()
    let asked = 0
    answer = ({ url }, response) => {
      asked++
      if (url === '/last') response.end('[]')
      if (asked === 20) aborting.abort(new Error('left'))
    }
    const { signal } = aborting
    const all = Array.from({ length: 20 }, () => client.request({ origin, path: '/', signal }))
    await Promise.allSettled(all)
    await Promise.all([...sockets].map(socket => socket.destroyed || once(socket, 'close')))
    for (let i = 0; i < 3; i++) await fetchText(client, { origin, path: '/last' }, limits)
    assert.equal(asked, 23)
    assert.ok(sockets.size <= 23, `${sockets.size} connections`)
  })

  it('connects to addresses that the policy allows only', async () => {
    const { lookup } = createAddressPolicy({ allow: [], allowHttp: true })
    const url = origin.replace('127.0.0.1', 'localhost')
    assert.equal(
      await reasonOf(fetchOnce(url, {}, { limits, lookup })),
      'its host localhost has no public address',
    )
  })

  it('reports why there is no response', async () => {
    assert.equal(await reasonOf(fetchOnce('http://127.0.0.1:1', {}, { limits })), 'connection refused')
    answer = ({ socket }) => void socket.end('nonsense\r\n\r\n')
    assert.equal(await reasonOf(fetchOnce(origin, {}, { limits })), 'its response is malformed')
  })

  it('reads the authorities of each server in a turn of their own', async () => {
    answer = (_, response) => response.end('done')
    const ca = Array.from({ length: 150 }, () => testCertificates().tls.clientCA).join('\n')
    let turns = 0
    let beat = setImmediate(function next() {
      turns++
      beat = setImmediate(next)
    })
    const { createSecureContext } = tlsModule
    const readIn = new Set<number>()
    mock.method(tlsModule, 'createSecureContext', (options: tlsModule.SecureContextOptions) => {
      // Other servers of the process read theirs.
      if (options.ca === ca) readIn.add(turns)
      return createSecureContext(options)
    })
    syncBuiltinESMExports()
    try {
      await Promise.all(Array.from({ length: 16 }, () => fetchOnce(origin, {}, { limits, tls: { ca } })))
      assert.equal(readIn.size, 16)
    } finally {
      clearImmediate(beat)
      mock.restoreAll()
      syncBuiltinESMExports()
    }
  })
})
