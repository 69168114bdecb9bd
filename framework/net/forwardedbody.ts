import { Readable } from 'node:stream'
import { turn } from '../async/turn.ts'
import { tooLarge } from '../meta/errors.ts'
import { bodyCutOff, type HttpRequest, isCanceled, mostChunks, streamOf } from '../request/incoming.ts'

/** Bytes. Reading a chunk takes a few microseconds, which is much for fewer bytes. */
const small = 256

/**
 * The body of a request for another server. Chunks that arrive together are joined, because each would be a write; of those that are
 * small there may be as many as in a body that is decoded. The rest of an unread body is read too: otherwise it would precede the next
 * request on the connection.
 */
export function forwardedBody(request: HttpRequest): Readable {
  let arrived: Buffer[] = []
  let count = 0
  const body = new Readable({
    read: () => void request.resume(),
    destroy: (error, done) => {
      request.resume()
      done(error)
    },
  })
  const pass = (): void => {
    if (arrived.length === 0 || body.destroyed) return
    const joined = Buffer.concat(arrived)
    arrived = []
    if (!body.push(joined)) request.pause()
  }
  request.on('data', (chunk: Buffer) => {
    const isJoined = arrived.length > 0 || count > mostChunks
    if (isJoined && chunk.length < small) count++
    if (count > mostChunks) refuse(request, body, count)
    // Not in the next tick: each record of TLS has its own.
    if (!body.destroyed && arrived.push(chunk) === 1) setImmediate(pass)
  })
  // A connection with a thousand requests may close.
  const fail = (): void => void turn().then(() => body.destroy(bodyCutOff()))
  request.on('end', () => {
    if (isCanceled(request)) return fail()
    pass()
    body.push(null)
  })
  const cutOff = (): void => {
    if (!request.readableEnded) fail()
  }
  request.on('error', cutOff)
  request.on('close', cutOff)
  return body
}

/** The response is sent while as many chunks arrive again. */
function refuse(request: HttpRequest, body: Readable, count: number): void {
  body.destroy(tooLarge(`limit of a body is ${mostChunks} small chunks`))
  if (count > 2 * mostChunks) streamOf(request).destroy()
}
