import type { EventEmitter } from 'node:events'
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer, Http2ServerRequest, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../contract/log.ts'

interface ParseError extends Error {
  readonly code?: string
}

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Refuses malformed requests with Node's status, and logs them. */
export function refuseBroken(server: EventEmitter, log: Logger): void {
  server.on('request', begin)
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const { code = '' } = error
    log.debug({ error: code || error.message, from: socket.remoteAddress }, 'not a request')
    // During a response, clients would take a second one for a part of it.
    if (!socket.writable || running.get(socket)?.count) socket.destroy(error)
    else socket.end(`HTTP/1.1 ${statuses[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  })
}

/** Responses in progress on one connection. */
interface InProgress {
  count: number
}

/** Kept per connection, because an entry per response is slower. */
const running = new WeakMap<Socket, InProgress>()

function begin(request: IncomingMessage | Http2ServerRequest, response: ServerResponse): void {
  // An error of an HTTP/2 stream does not concern the connection.
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

export type NodeServer = HttpServer | Http2SecureServer

export interface Connections {
  readonly sockets: ReadonlySet<Socket>
  readonly sessions: ReadonlySet<ServerHttp2Session>
}

export function trackConnections(server: NodeServer): Connections {
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  server.on('connection', (socket: Socket) => track(sockets, socket))
  server.on('session', (session: ServerHttp2Session) => track(sessions, session))
  return { sockets, sessions }
}

function track<T extends Socket | ServerHttp2Session>(set: Set<T>, member: T): void {
  set.add(member)
  member.once('close', () => set.delete(member))
}

export interface RunningRequests {
  readonly count: number
  /** Counts a request until `close`. */
  follow(one: { on(event: 'close', done: () => void): void }): void
  /** Resolves when no request is running. */
  none(): Promise<void>
}

export function trackRequests(server: NodeServer): RunningRequests {
  let count = 0
  const waiting: (() => void)[] = []
  const done = (): void => {
    count--
    if (count === 0) for (const resolve of waiting.splice(0)) resolve()
  }
  const follow: RunningRequests['follow'] = one => {
    count++
    // Not `once`, which allocates; `close` is emitted once.
    one.on('close', done)
  }
  server.on('request', (_request: unknown, response: ServerResponse) => follow(response))
  return {
    get count() {
      return count
    },
    follow,
    none: () => (count === 0 ? Promise.resolve() : new Promise(resolve => void waiting.push(resolve))),
  }
}

const lastFlush = 1000

export async function drain(
  server: NodeServer,
  { sockets, sessions }: Connections,
  running: RunningRequests,
  milliseconds: number,
): Promise<void> {
  const closed = new Promise(resolve => void server.close(resolve))
  for (const session of sessions) session.close()
  await within(milliseconds, running.none())
  // `end` sends what was written before it closes the connection.
  for (const socket of sockets) socket.end()
  await within(lastFlush, closed)
  for (const socket of sockets) socket.destroy()
  await closed
}

async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  await Promise.race([promise, late])
  timer.abort()
}
