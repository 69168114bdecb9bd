import { constants } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http'
import { createSecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Logger } from '../contract/log.ts'
import type { Upgrade } from '../contract/upstream.ts'
import {
  arriving,
  ConnectionLimit,
  limitConnections,
  logRefusedConnections,
  type NodeServer,
  trackRequests,
} from './connections.ts'
import { drain, trackConnections } from './drain.ts'
import { refuseMalformed } from './malformed.ts'

/** The certificates of a port. */
export interface TlsOptions {
  /** PEM. */
  readonly cert: string
  /** PEM. */
  readonly key: string
  /** PEM bundle of the authorities of client certificates. Without it the server requests no client certificates. */
  readonly clientCA?: string
}

/** The options of a port. */
export interface ListenOptions {
  /** The address to bind. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** The path of a Unix socket, instead of an address and a port. */
  readonly socketPath?: string
  /** Without it the server uses HTTP/1.1 without TLS, for loopback addresses only. */
  readonly tls?: TlsOptions
  /** Logs malformed requests. */
  readonly log?: Logger
  /** Counts connections and their requests; absent: no limit. */
  readonly connections?: ConnectionLimit
}

/** An open port. */
export interface Listener {
  readonly port: number
  /** Changes the certificates for new connections. Throws, without a change, for invalid certificates. */
  useCertificate(changed: Partial<TlsOptions>): void
  /** Changes the handlers for later requests. */
  replaceHandlers(by: Answering): void
  /** Stops accepting connections, waits up to `milliseconds` for running requests, then closes all connections. */
  drain(milliseconds: number): Promise<void>
}

/** Handles an upgrade request: by a response, or on its connection. */
export type UpgradeListener = (request: IncomingMessage, response: ServerResponse, upgrade: Upgrade) => void

type AnyListener = (...args: unknown[]) => void

/**
 * Opens a port for HTTP/2 and HTTP/1.1 over TLS. Rejects if it is in use. Without `onUpgrade`, upgrade requests are
 * handled by `listener`.
 */
export async function listen(
  options: ListenOptions,
  listener: RequestListener,
  onUpgrade?: UpgradeListener,
): Promise<Listener> {
  const server = createNodeServer(options.tls)
  const connections = trackConnections(server)
  const running = trackRequests(server)
  let upgrading = onUpgrade
  let onRequest = arriving(listener) as AnyListener
  server.on('request', onRequest)
  guard(server, options)
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      running.follow(socket)
      upgrading?.(request, responseOn(request, socket), { socket, head })
    })
  }
  if (options.socketPath === undefined) server.listen(options.port, options.host)
  else server.listen(options.socketPath)
  await once(server, 'listening')
  logRefusedConnections(server, options.log)
  let { tls } = options
  return {
    port: portOf(server),
    useCertificate: changed => {
      if (!('setSecureContext' in server) || tls === undefined) return
      const next = { ...tls, ...changed }
      server.setSecureContext(contextOf(next))
      tls = next
    },
    replaceHandlers: by => {
      server.off('request', onRequest)
      onRequest = arriving(by.request) as AnyListener
      server.on('request', onRequest)
      upgrading = by.upgrade
    },
    drain: milliseconds => drain(server, connections, running, milliseconds),
  }
}

/** 0 for a Unix socket. */
function portOf(server: NodeServer): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function guard(server: NodeServer, { log, connections = new ConnectionLimit(0) }: ListenOptions): void {
  limitConnections(server, connections)
  if (log !== undefined) refuseMalformed(server, connections, log)
}

/** Longer than the idle timeout of Go's clients, so that the client closes idle connections. */
const keepAliveTimeout = 120_000

function createNodeServer(tls: TlsOptions | undefined): NodeServer {
  if (tls === undefined) return createHttpServer({ keepAliveTimeout })
  const server = createSecureServer({
    ...contextOf(tls),
    allowHTTP1: true,
    // For HTTP/1.1 (HTTP/2 sets it). Without it an event waits until the client has acknowledged the one before.
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
  ...(clientCA !== undefined && ofClients(clientCA)),
})

const ofClients = (ca: string): SecureContextOptions => ({
  ca,
  // A resumed session has the certificate of the client, but not the chain by which its authority is found.
  secureOptions: constants.SSL_OP_NO_TICKET,
})

/** The response for an upgrade request that is answered without an upgrade; it closes the connection. */
function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  // A disconnected client is not an error.
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

/** The handlers of a port. */
export interface Answering {
  readonly request: RequestListener
  readonly upgrade: UpgradeListener
}

/** A port that is open before its server is ready: requests wait for `answer`. */
export interface Port extends Listener {
  /** `127.0.0.1:6443`: host and port. */
  readonly address: string
  /** `https://127.0.0.1:6443`. */
  readonly url: string
  /** Those of the options. */
  readonly connections?: ConnectionLimit
  /** Called once. */
  answer(answering: Answering): void
}

/** Opens a port. Rejects if it is in use. */
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
    ...(options.connections && { connections: options.connections }),
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
