import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../../test/support/clientcertificates.ts'
import { openPort } from './listener.ts'

describe('a port for client certificates', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`verifies the chain on each connection with ${version}: a resumed session has none`, async () => {
      const authority = issueAuthority()
      const { certificate, key } = issueServing(authority, ['127.0.0.1'])
      const tls = { cert: certificate, key, clientCA: authority.certificate }
      const port = await openPort({ host: '127.0.0.1', port: 0, tls })
      const answer = ({ socket }: IncomingMessage): string => String((socket as TLSSocket).authorized)
      port.answer({ request: (asked, response) => response.end(answer(asked)), upgrade: () => undefined })
      const client = await issueClient(authority, { subject: 'CN=alice' })
      const agent = new Agent({ keepAlive: false })
      const options = { agent, cert: client.certificate, key: client.key, ca: authority.certificate }
      for (const _ of [1, 2, 3]) {
        const call = request(port.url, { ...options, minVersion: version, maxVersion: version }).end()
        const [response] = (await once(call, 'response')) as [IncomingMessage]
        const isResumed = (response.socket as TLSSocket).isSessionReused()
        assert.deepEqual([await text(response), isResumed], ['true', false])
      }
      await port.drain(0)
    })
})
