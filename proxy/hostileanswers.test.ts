import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { hostile, plainAnswer } from '../framework/net/testing/hostile.ts'
import { service } from '../framework/net/testing/service.ts'
import { type Listener, listen } from '../framework/server/listener.ts'
import { serve } from '../framework/server/serve.ts'
import { ask, protocols, testCertificates } from '../test/support/wire.ts'
import type { Mapping, MappingTls } from './mapping.ts'
import { openRoutes } from './routes.ts'

describe('a shard behind a front proxy that sends', () => {
  let shard: Server
  let front: Listener
  let sent = ''

  before(async () => {
    shard = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(sent, 'latin1'))
    }).listen(0, '127.0.0.1')
    await once(shard, 'listening')
    const url = `http://127.0.0.1:${(shard.address() as AddressInfo).port}`
    const names = {
      ...{ user: 'X-Remote-User', uid: 'X-Remote-Uid', group: 'X-Remote-Group' },
      extraPrefix: 'X-Remote-Extra-',
    }
    const mapping = { path: '/', backend: url, names } as Mapping
    const routes = openRoutes([{ mapping, tls: {} as MappingTls }], () => false)
    const user = { name: 'ann', groups: [] }
    front = await listen(
      { host: '127.0.0.1', port: 0, tls: testCertificates().tls },
      (request, response) =>
        void serve(service, { request, response }, exchange =>
          routes.forwarding({ mapping, exchange, user, url, path: exchange.incoming.path }),
        ),
    )
  })
  after(async () => {
    await front.drain(0)
    shard.close()
  })

  const send = (protocol: (typeof protocols)[number]): Promise<string> =>
    ask(protocol, `https://127.0.0.1:${front.port}/x`).then(
      ({ status }) => String(status),
      () => 'cut off',
    )

  for (const [what, bytes] of Object.entries({
    ...hostile,
    'a head without end': `HTTP/1.1 200 OK\r\n${'X-A: '.padEnd(1000, 'x')}\r\n`.repeat(1_000),
  }))
    for (const protocol of protocols)
      it(`${what} breaks this response at most, over ${protocol}`, async () => {
        sent = bytes
        const seen = await send(protocol)
        assert.ok(seen === 'cut off' || Number(seen) !== 500, seen)
        sent = plainAnswer
        assert.equal(await send(protocol), '200')
      })
})
