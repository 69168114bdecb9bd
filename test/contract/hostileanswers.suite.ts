import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { plainAnswer } from '../../framework/net/testing/hostile.ts'
import { type Listener, listen } from '../../framework/server/listener.ts'
import { ask, protocols, testCertificates } from '../support/wire.ts'

type Pass = (request: IncomingMessage, response: ServerResponse) => void

/**
 * What a server in front of another one does with these responses, which are no HTTP or not quite. `passTo` gets the
 * URL of that server.
 */
export function breaksOneResponseAtMost(
  answers: Readonly<Record<string, string>>,
  passTo: (url: string) => Pass,
): void {
  let target: Server
  let front: Listener
  let sent = ''

  before(async () => {
    target = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(sent, 'latin1'))
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
    front = await listen({ host: '127.0.0.1', port: 0, tls: testCertificates().tls }, passTo(url))
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

  for (const [what, bytes] of Object.entries(answers))
    for (const protocol of protocols)
      it(`${what} breaks this response at most, over ${protocol}`, async () => {
        sent = bytes
        const seen = await send(protocol)
        assert.ok(seen === 'cut off' || Number(seen) !== 500, seen)
        sent = plainAnswer
        assert.equal(await send(protocol), '200')
      })
}
