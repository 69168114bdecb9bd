import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { ask, protocols, testCertificates } from '../../test/support/wire.ts'
import { silent } from '../contract/log.ts'
import { StatusError } from '../meta/errors.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { type Listener, listen } from './listener.ts'
import { type Handler, serve } from './serve.ts'

describe('a server lives on', () => {
  let listener: Listener
  let handler: Handler
  const answer = { status: 200, contentType: 'application/json', body: Buffer.from('{}') }
  const metrics = createMetrics()
  const { signal: stopping } = new AbortController()

  before(async () => {
    const serving: RequestListener = (request, response) =>
      void serve(
        { log: silent, metrics, requestTimeout: 60_000, stopping },
        { request, response },
        exchange => handler(exchange),
      )
    listener = await listen({ host: '127.0.0.1', port: 0, tls: testCertificates().tls }, serving)
  })
  after(() => listener.drain(0))

  const headers = { accept: 'application/vnd.kubernetes.protobuf' }
  for (const protocol of protocols) {
    const send = () => ask(protocol, `https://127.0.0.1:${listener.port}/`, { headers })

    for (const details of [{ causes: 5 }, { name: { a: 1 } }, { retryAfterSeconds: '1\r\nx: y' }])
      it(`after a Status with ${JSON.stringify(details)}, over ${protocol}`, async () => {
        handler = () => {
          throw new StatusError(422, 'Invalid', 'no', details as never)
        }
        assert.ok([422, 500].includes((await send()).status))
      })

    it(`after a warning that is no text, over ${protocol}`, async () => {
      handler = ({ record }) => {
        record.warn({} as string)
        return answer
      }
      await assert.rejects(send())
      handler = () => answer
      assert.equal((await send()).status, 200)
    })
  }
})
