import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import type { Logger } from '../contract/log.ts'

interface ParseError extends Error {
  readonly code?: string
}

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Refuses what is no request as Node does, and logs it: nobody else gets to see it. */
export function refuseBroken(server: EventEmitter, log: Logger): void {
  server.on('request', begin)
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const { code = '' } = error
    log.debug({ error: code || error.message, from: socket.remoteAddress }, 'not a request')
    // In the middle of an answer, a second one would be taken for a part of it.
    if (!socket.writable || running.get(socket)?.count) socket.destroy(error)
    else socket.end(`HTTP/1.1 ${statuses[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  })
}

/** Answers that are under way on a connection. */
interface Running {
  count: number
}

/** Kept as long as the connection: to come and go with each answer would cost more than the rest. */
const running = new WeakMap<Socket, Running>()

function begin(request: IncomingMessage | Http2ServerRequest, response: ServerResponse): void {
  // A stream of HTTP/2 breaks by itself, and not with the connection.
  if ('stream' in request) return
  const { socket } = request
  const known = running.get(socket)
  if (known === undefined) running.set(socket, { count: 1 })
  else known.count++
  response.on('close', end)
}

function end(this: ServerResponse): void {
  const known = running.get(this.req.socket)
  if (known !== undefined) known.count--
}
