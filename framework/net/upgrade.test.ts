import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Listener } from '../server/listener.ts'
import { openFront } from './testing/front.ts'
import { outbound, portOf } from './testing/service.ts'

describe('forwarding of upgraded connections', () => {
  let target: Server
  let front: Listener
  let headers: IncomingMessage['headers']
  /** Requests that are not over. */
  let open = 0
  const over = new EventEmitter()

  before(async () => {
    target = createServer((_, response) => response.writeHead(403).end('no'))
    target.on('upgrade', (asked: IncomingMessage, socket: Socket, sent: Buffer) => {
      headers = asked.headers
      socket.on('error', () => undefined)
      if (asked.url === '/no') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      const own =
        'X-Own: \u00e9\r\nAudit-Id: theirs\r\nSet-Cookie: a\r\nStrict-Transport-Security: max-age=9\r\nNEL: {}\r\n'
      const head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${asked.headers.upgrade}\r\n${own}\r\n`
      socket.write(`${head}hello `, 'latin1')
      socket.write(sent)
      if (asked.url !== '/hold') socket.pipe(socket)
    })
    target.listen(0, '127.0.0.1')
    await once(target, 'listening')
    const endpoint = { url: `http://127.0.0.1:${portOf(target)}` }
    front = await openFront(({ incoming, lifetime }) => {
      open++
      lifetime.onOver(() => over.emit('over', --open))
      return outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '' })
    })
  })
  after(async () => {
    target.closeAllConnections()
    target.close()
    await front.drain(0)
  })

  const offer = (method: string, protocol: string, path = '/exec') =>
    request({
      host: '127.0.0.1',
      port: front.port,
      method,
      path,
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: protocol,
        authorization: 'Bearer mine',
        'sec-websocket-protocol': 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
      },
    })

  for (const [method, protocol] of [
    ['POST', 'SPDY/3.1'],
    ['GET', 'SPDY/3.1'],
    ['GET', 'websocket'],
  ] as const)
    it(`joins both sides after ${method} with ${protocol}`, async () => {
      const sent = offer(method, protocol)
      sent.end()
      const [response, socket, head] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket, Buffer]
      assert.deepEqual([response.statusCode, response.headers.upgrade], [101, protocol])
      assert.equal(response.headers['x-own'], '\u00e9')
      assert.notEqual(response.headers['audit-id'], 'theirs')
      for (const name of ['set-cookie', 'strict-transport-security', 'nel'])
        assert.equal(response.headers[name], undefined, name)
      let text = head.toString()
      socket.on('data', chunk => {
        text += chunk
      })
      socket.write('echo')
      while (text !== 'hello echo') await once(socket, 'data')
      assert.equal(headers.authorization, undefined)
      assert.equal(headers['sec-websocket-protocol'], 'v5.channel.k8s.io')
      socket.end()
      await once(socket, 'close')
    })

  it('passes a refusal on', async () => {
    const sent = offer('POST', 'SPDY/3.1', '/no')
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    assert.equal(response.statusCode, 403)
    assert.equal(Buffer.concat(await response.toArray()).toString(), 'no')
  })

  it('closes one side when the other is closed', async () => {
    const sent = offer('GET', 'websocket')
    sent.end()
    const [, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket]
    const closed = new Promise<void>(resolve => {
      target.getConnections((_, before) => {
        const look = (): void =>
          void target.getConnections((__, count) => (count < before ? resolve() : setTimeout(look, 10)))
        look()
      })
    })
    socket.destroy()
    await closed
  })

  for (const how of ['end', 'destroy'] as const)
    it(`closes the connection of a server that does not close it, and is over, when the client calls ${how}`, async () => {
      const held = new Promise<Socket>(resolve =>
        target.prependOnceListener('upgrade', (_, socket: Socket) => {
          socket.allowHalfOpen = true
          resolve(socket)
        }),
      )
      const sent = offer('GET', 'websocket', '/hold')
      sent.end()
      const [, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket]
      const server = await held
      const gone = once(server, 'error')
      const writing = setInterval(() => server.write('still here'), 5)
      socket.resume()[how]()
      await gone
      clearInterval(writing)
      while (open > 0) await once(over, 'over')
    })
})
