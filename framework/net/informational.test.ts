import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Listener } from '../server/listener.ts'
import { createClient } from './client.ts'
import { fetchText } from './fetch.ts'
import { openFront } from './testing/front.ts'
import { outbound } from './testing/service.ts'

const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
const end = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'

/** Sends responses with a status 1xx until the connection is closed. */
function flood(socket: Socket): void {
  while (!socket.destroyed && socket.write(hint.repeat(100)));
}

describe('a server that sends informational responses', () => {
  let target: Server
  let front: Listener
  let answer: (socket: Socket) => void

  before(async () => {
    target = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => answer(socket))
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    front = await openFront(({ incoming }) => {
      const endpoint = { url: originOf() }
      return outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '' })
    })
  })
  after(async () => {
    await front.drain(0)
    target.close()
  })

  const originOf = (): string => `http://127.0.0.1:${(target.address() as AddressInfo).port}`
  const statusOf = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: front.port, path: '/exec', agent: false, headers })
      asked.on('error', reject)
      asked.on('response', response => resolve(response.resume().statusCode ?? 0))
      asked.end()
    })
  const fetched = (): Promise<{ readonly status: number }> => {
    const client = createClient({})
    return fetchText(client, { origin: originOf(), path: '/' }, { bytes: 10, timeout: 60_000 })
  }
  const upgrade = { connection: 'Upgrade', upgrade: 'x' }

  it('without end gets no more than some of them', async () => {
    answer = socket => socket.on('drain', () => flood(socket)) && flood(socket)
    assert.equal(await statusOf({}), 502)
    assert.equal(await statusOf(upgrade), 502)
    await assert.rejects(fetched(), /it has sent more than 16 informational responses/)
  })

  it('is heard after some of them', async () => {
    answer = socket => socket.end(hint.repeat(3) + end)
    assert.equal(await statusOf({}), 200)
    assert.equal(await statusOf(upgrade), 200)
    assert.equal((await fetched()).status, 200)
  })
})
