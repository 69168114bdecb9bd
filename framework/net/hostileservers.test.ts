import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { ask, protocols, testCertificates } from '../../test/support/wire.ts'
import { type Listener, listen } from '../server/listener.ts'
import { serve } from '../server/serve.ts'
import { hostile, plainAnswer } from './testing/hostile.ts'
import { outbound, service } from './testing/service.ts'

describe('a server behind a mount that sends', () => {
  let target: Server
  let front: Listener
  let sent = ''

  before(async () => {
    target = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(sent, 'latin1'))
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const endpoint = { url: `http://127.0.0.1:${(target.address() as AddressInfo).port}` }
    front = await listen(
      { host: '127.0.0.1', port: 0, tls: testCertificates().tls },
      (request, response) =>
        void serve(service, { request, response }, ({ incoming }) =>
          outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '/here' }),
        ),
    )
  })
  after(async () => {
    await front.drain(0)
    target.close()
  })

  const send = (protocol: (typeof protocols)[number]): Promise<string> =>
    ask(protocol, `https://127.0.0.1:${front.port}/x`).then(
      ({ status }) => String(status),
      () => 'cut off',
    )

  for (const [what, bytes] of Object.entries(hostile))
    for (const protocol of protocols)
      it(`${what} breaks this response at most, over ${protocol}`, async () => {
        sent = bytes
        const seen = await send(protocol)
        assert.ok(seen === 'cut off' || Number(seen) !== 500, seen)
        sent = plainAnswer
        assert.equal(await send(protocol), '200')
      })
})
