import assert from 'node:assert/strict'
import { ask, protocols, testCertificates } from '../../test/support/wire.ts'
import { service } from '../net/testing/service.ts'
import { type Listener, listen } from './listener.ts'
import { redirectAnswer } from './mounts.ts'
import { serve } from './serve.ts'

describe('the redirect to a URL that a tenant has written', () => {
  let front: Listener
  let written = ''

  before(async () => {
    front = await listen(
      { host: '127.0.0.1', port: 0, tls: testCertificates().tls },
      (request, response) =>
        void serve(service, { request, response }, ({ incoming }) => redirectAnswer(incoming, written)),
    )
  })
  after(() => front.drain(0))

  for (const [url, location] of [
    ['https://a.example/clusters/root:b/api?c=d%2Fe', 'https://a.example/clusters/root:b/api?c=d%2Fe'],
    ['https://a.example/\r\nX-B: c/api', 'https://a.example/X-B:%20c/api'],
    ['https://a.example/\u65e5/\u00e9', 'https://a.example/%E6%97%A5/%C3%A9'],
    ['  https:a.example/b c', 'https://a.example/b%20c'],
  ] as const)
    for (const protocol of protocols)
      it(`${JSON.stringify(url)} is one header over ${protocol}`, async () => {
        written = url
        const { status, headers } = await ask(protocol, `https://127.0.0.1:${front.port}/x`)
        assert.deepEqual([status, headers.location, headers['x-b']], [307, location, undefined])
      })
})
