import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Logger } from '../contract/log.ts'
import type { Upgrade } from '../contract/upstream.ts'
import { drain, type NodeServer, refuseBroken, trackConnections, trackRequests } from './connections.ts'

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
  /** Hands later requests to other handlers. */
  replaceHandlers(by: Answering): void
  /** Accepts nothing more, lets running answers complete for so many milliseconds, then closes every connection. */
  drain(milliseconds: number): Promise<void>
}

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
  let handlers: Partial<Answering> & Pick<Answering, 'request'> = {
    request: listener,
    ...(onUpgrade !== undefined && { upgrade: onUpgrade }),
  }
  server.on('request', listener as (...args: unknown[]) => void)
  if (options.log !== undefined) refuseBroken(server, options.log)
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      running.follow(socket)
      handlers.upgrade?.(request, responseOn(request, socket), { socket, head })
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
    replaceHandlers: by => {
      server.off('request', handlers.request as (...args: unknown[]) => void)
      server.on('request', by.request as (...args: unknown[]) => void)
      handlers = by
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

/** Answers the requests of a port. */
export interface Answering {
  readonly request: RequestListener
  readonly upgrade: UpgradeListener
}

/** A port that is open before the server behind it is ready: requests wait for `answer`. */
export interface Port extends Listener {
  /** `127.0.0.1:6443`: host and port. */
  readonly address: string
  /** `https://127.0.0.1:6443`. */
  readonly url: string
  /** Called once. */
  answer(answering: Answering): void
}

/** Opens a port. Rejects when it is taken. */
export async function openPort(options: ListenOptions): Promise<Port> {
  let waiting: ((by: Answering) => void)[] = []
  const listener = await listen(
    options,
    (request, response) => void waiting.push(by => response.destroyed || by.request(request, response)),
    (request, response, upgrade) =>
      void waiting.push(by => upgrade.socket.destroyed || by.upgrade(request, response, upgrade)),
  )
  const address = `${urlHost(options.host)}:${listener.port}`
  return {
    ...listener,
    address,
    url: `${options.tls === undefined ? 'http' : 'https'}://${address}`,
    answer(by) {
      listener.replaceHandlers(by)
      for (const answer of waiting) answer(by)
      waiting = []
    },
  }
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
