import type { Socket } from 'node:net'
import type { Logger } from '../contract/log.ts'
import type { ConnectionLimit, NodeServer } from './connections.ts'

interface ParseError extends Error {
  readonly code?: string
}

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Refuses malformed and incomplete requests with Node's status, and with the status as text, as `badRequestError` and `statusError`
 * of Go's net/http/server.go do. Logs them. A request without its headers in 60 seconds, or its body in 300, gets 408.
 */
export function refuseMalformed(
  server: NodeServer,
  connections: Pick<ConnectionLimit, 'isBusy'>,
  log: Logger,
): void {
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const { code = '' } = error
    log.debug({ error: code || error.message, from: socket.remoteAddress }, 'not a request')
    // During a response, clients would take a second one for a part of it.
    if (!socket.writable || connections.isBusy(socket)) socket.destroy(error)
    else socket.end(refusal(statuses[code] ?? '400 Bad Request'))
  })
}

const refusal = (status: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`
