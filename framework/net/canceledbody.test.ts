import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, createServer, type Http2ServerRequest } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { encodeFrame, endHeaders, frames, preface, requestHeaders } from '../../test/attacks/frames.ts'
import { readRequest } from '../request/incoming.ts'
import { forwardedBody } from './forwardedbody.ts'

const headers = requestHeaders({ url: 'https://localhost', ca: '', token: '' }, 'POST', '/')
/** A request whose body has not ended: Node's own client ends it before it cancels the request. */
const begun = Buffer.concat([
  preface,
  encodeFrame({ type: frames.settings }),
  encodeFrame({ type: frames.headers, flags: endHeaders, stream: 1, payload: headers }),
  encodeFrame({ type: frames.data, stream: 1, payload: Buffer.from('{"a":1}') }),
])

const resetWith = (code: number): Buffer =>
  encodeFrame({ type: frames.reset, stream: 1, payload: Buffer.from([0, 0, 0, code]) })

describe('a request over HTTP/2 that is canceled before the end of its body', () => {
  const readers: Readonly<Record<string, (request: Http2ServerRequest) => Promise<unknown>>> = {
    decoded: request => readRequest(request, {}).body(1_000),
    forwarded: request => text(forwardedBody(request)),
  }
  const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants
  for (const [how, read] of Object.entries(readers))
    for (const code of [NGHTTP2_CANCEL, NGHTTP2_NO_ERROR])
      it(`has no body that could be taken for a whole one when it is ${how}, with the code ${code}`, async () => {
        const server = createServer().listen(0, '127.0.0.1')
        const requested = once(server, 'request') as Promise<[Http2ServerRequest]>
        await once(server, 'listening')
        const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
        try {
          client.write(begun)
          const [request] = await requested
          request.once('data', () => client.write(resetWith(code)))
          await assert.rejects(read(request), /the body of the request was cut off/)
        } finally {
          client.destroy()
          server.close()
        }
      })
})
