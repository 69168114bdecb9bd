import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Listener } from '../server/listener.ts'
import { openFront } from './testing/front.ts'
import { outbound } from './testing/service.ts'

const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n'
const declined = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'

/** What a server behind a mount sends to a request for another protocol, before it ends or resets the connection. */
const hostile: Readonly<Record<string, string>> = {
  nothing: '',
  'half a head': 'HTTP/1.1 101 Swit',
  nonsense: 'nonsense\r\n\r\n',
  'a 101 and nothing': `${agreed}\r\n`,
  'a 101 and bytes': `${agreed}\r\nbytes`,
  'a 101 with odd headers': `${agreed}X-A: \u00e9\u00ff\r\nSet-Cookie: a\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\n\r\n`,
  'a 101 for no protocol': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'half a refusal': 'HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nno',
  'a refusal with a header twice': `HTTP/1.1 403 Forbidden\r\nContent-Type: a\r\nContent-Type: b\r\nContent-Length: 2\r\n\r\nno`,
  'a status of 999': 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nno',
  'a refusal and a 101': `${declined}${agreed}\r\n`,
}

describe('a server that answers a request for another protocol with', () => {
  let target: Server
  let front: Listener
  let sent = ''
  let ends: 'ends' | 'resets' = 'ends'

  before(async () => {
    target = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        if (ends === 'ends') socket.end(sent, 'latin1')
        else socket.write(sent, 'latin1', () => socket.resetAndDestroy())
      })
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const endpoint = { url: `http://127.0.0.1:${(target.address() as AddressInfo).port}` }
    front = await openFront(({ incoming }) =>
      outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '' }),
    )
  })
  after(async () => {
    await front.drain(0)
    target.close()
  })

  /** Resolves when the connection is over. */
  const offer = (): Promise<number> =>
    new Promise(resolve => {
      const headers = { connection: 'Upgrade', upgrade: 'x' }
      const asked = request({ host: '127.0.0.1', port: front.port, path: '/exec', agent: false, headers })
      asked.on('error', () => resolve(0))
      asked.on('upgrade', (_, socket) => {
        socket.on('error', () => undefined).on('close', () => resolve(101))
        socket.resume()
      })
      asked.on('response', response => {
        response.on('error', () => undefined).on('close', () => resolve(response.statusCode ?? 0))
        response.resume()
      })
      asked.end('and bytes of the client')
    })

  for (const [what, bytes] of Object.entries(hostile))
    for (const how of ['ends', 'resets'] as const)
      it(`${what}, and ${how} the connection, breaks this request at most`, async () => {
        sent = bytes
        ends = how
        assert.notEqual(await offer(), 500)
        sent = declined
        ends = 'ends'
        assert.equal(await offer(), 403)
      })
})
