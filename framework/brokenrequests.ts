import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from './log.ts'

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
  const answering = new WeakSet<Socket>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket)
    response.once('close', () => answering.delete(socket))
  })
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const { code = '' } = error
    log.debug({ error: code || error.message, from: socket.remoteAddress }, 'not a request')
    // In the middle of an answer, a second one would be taken for a part of it.
    if (!socket.writable || answering.has(socket)) socket.destroy(error)
    else socket.end(`HTTP/1.1 ${statuses[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  })
}
