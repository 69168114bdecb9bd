import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http'
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SecureContextOptions } from 'node:tls'
import type { Logger } from '../contract/log.ts'
import type { Upgrade } from '../contract/upstream.ts'
import { refuseBroken } from './brokenrequests.ts'

export interface TlsOptions {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** PEM bundle: client certificates of these authorities are believed. Without it none is asked for. */
  readonly clientCA?: string
}

export interface ListenOptions {
  /** The address to bind. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Without it the server speaks plain HTTP/1.1: for loopback only. */
  readonly tls?: TlsOptions
  /** Told of what is no request. */
  readonly log?: Logger
}

/** An open port. */
export interface Listener {
  readonly port: number
  /** Serves new connections with what has changed; open ones stay. Throws, and changes nothing, on what is none. */
  useCertificate(changed: Partial<TlsOptions>): void
  /** Accepts nothing more, lets running answers complete for so many milliseconds, then closes every connection. */
  drain(milliseconds: number): Promise<void>
}

type NodeServer = HttpServer | Http2SecureServer

/** A request that asks for another protocol comes with its connection, and may be answered as any other. */
export type UpgradeListener = (request: IncomingMessage, response: ServerResponse, upgrade: Upgrade) => void

/**
 * Opens a port for HTTP/2 and HTTP/1.1 over TLS. Rejects when it is taken. Without an upgrade listener, requests for
 * other protocols are requests like others.
 */
export async function listen(
  options: ListenOptions,
  listener: RequestListener,
  onUpgrade?: UpgradeListener,
): Promise<Listener> {
  const server = createNodeServer(options.tls)
  const connections = trackConnections(server)
  const running = trackRequests(server)
  server.on('request', listener as (...args: unknown[]) => void)
  if (options.log !== undefined) refuseBroken(server, options.log)
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      running.follow(socket)
      onUpgrade(request, responseOn(request, socket), { socket, head })
    })
  }
  server.listen(options.port, options.host)
  await once(server, 'listening')
  let { tls } = options
  return {
    port: (server.address() as AddressInfo).port,
    useCertificate: changed => {
      if (!('setSecureContext' in server) || tls === undefined) return
      const next = { ...tls, ...changed }
      server.setSecureContext(contextOf(next))
      tls = next
    },
    drain: milliseconds => drain(server, connections, running, milliseconds),
  }
}

/** Idle connections are kept longer than Go's clients keep them, so that it is the client who closes. */
const keepAliveTimeout = 120_000

function createNodeServer(tls: TlsOptions | undefined): NodeServer {
  if (tls === undefined) return createHttpServer({ keepAliveTimeout })
  const server = createSecureServer({
    ...contextOf(tls),
    allowHTTP1: true,
    // HTTP/2 sets it by itself. Without it an event waits until the client has acknowledged the one before.
    noDelay: true,
    requestCert: tls.clientCA !== undefined,
    // A bad certificate is answered with 401, not with a broken handshake.
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams: 250 },
  })
  return Object.assign(server, { keepAliveTimeout })
}

const contextOf = ({ cert, key, clientCA }: TlsOptions): SecureContextOptions => ({
  cert,
  key,
  minVersion: 'TLSv1.2',
  ...(clientCA !== undefined && { ca: clientCA }),
})

/** Node hands a connection over with its upgrade request; most such requests get an ordinary answer, the last on it. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  // Whoever leaves early is no error of ours.
  socket.on('error', () => undefined)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end()
  })
  return response
}

interface Connections {
  readonly sockets: ReadonlySet<Socket>
  readonly sessions: ReadonlySet<ServerHttp2Session>
}

function trackConnections(server: NodeServer): Connections {
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

interface Running {
  readonly count: number
  /** What runs until it is closed. */
  follow(one: { on(event: 'close', done: () => void): void }): void
  /** Resolves when no request is running. */
  none(): Promise<void>
}

function trackRequests(server: NodeServer): Running {
  let count = 0
  const waiting: (() => void)[] = []
  const done = (): void => {
    count--
    if (count === 0) for (const resolve of waiting.splice(0)) resolve()
  }
  const follow: Running['follow'] = one => {
    count++
    // It closes once. `once` would make a function for each.
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

async function drain(
  server: NodeServer,
  { sockets, sessions }: Connections,
  running: Running,
  milliseconds: number,
): Promise<void> {
  const closed = new Promise(resolve => void server.close(resolve))
  for (const session of sessions) session.close()
  await within(milliseconds, running.none())
  // Graceful: what has been written leaves before the connection does.
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
