import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import type { Logger } from '../contract/log.ts'
import { Beginnings } from '../fairness/seats.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HttpRequest } from '../request/incoming.ts'

export type NodeServer = HttpServer | Http2SecureServer

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

/** An open connection. */
interface Connection {
  /** The account of its last request; '' before the first. */
  account: string
  /** Requests in progress. */
  running: number
  /** Milliseconds of the clock of `performance.now`: when the last request ended. */
  idleSince: number
  readonly peer: string
  readonly socket: Socket
}

/** The share of the limit that is closed at once, so that a flood is not compared with all connections each time. */
const closedAtOnce = 1 / 100

/** Milliseconds between two log lines. */
const logInterval = 10_000

/**
 * Limits the open connections of a server, HTTP/1.1 and HTTP/2 alike. At the limit a new connection takes the place of
 * those that are idle for the longest time, of the account with the most connections that has idle ones; connections
 * without a request so far count as one account. If none is idle, the new connection is closed. Connections with a
 * request in progress are never closed.
 */
export class ConnectionLimit {
  readonly #most: number
  readonly #log: Logger | undefined
  /** By address and port of the client: a TLS socket and an HTTP/2 session have those of their TCP socket. */
  readonly #byPeer = new Map<string, Connection>()
  readonly #accounts = new Map<string, Set<Connection>>()
  readonly #known = new WeakMap<object, Connection>()
  #closed = 0
  #count: () => void = () => undefined
  #loggedAt = Number.NEGATIVE_INFINITY

  /** `most`: connections at the same time; 0: no limit. */
  constructor(most: number, log?: Logger) {
    this.#most = most
    this.#log = log
  }

  /** Open connections. */
  get open(): number {
    return this.#byPeer.size
  }

  /** Connections that were closed because of the limit. */
  get closed(): number {
    return this.#closed
  }

  /** Adds the metrics of connections. */
  measure(metrics: Pick<Metrics, 'meter'>): void {
    const closed = metrics.meter({
      kind: 'counter',
      name: 'oriel_connections_closed_total',
      help: 'Connections that were closed because of --max-connections.',
      labels: [],
    })
    this.#count = () => closed({}, 1)
    metrics.meter({
      kind: 'gauge',
      name: 'oriel_connections',
      help: 'Open connections.',
      labels: [],
      collect: set => set({}, this.open),
    })
  }

  /** Counts a new connection until it closes; closes it, or others, at the limit. */
  add(socket: Socket): void {
    const peer = peerOf(socket)
    if (peer === undefined) return
    const isFull = this.#most > 0 && this.#byPeer.size >= this.#most
    const connection = { account: '', running: 0, idleSince: performance.now(), peer, socket }
    if (isFull && this.#closeIdle() === 0) {
      this.#close(connection)
      return
    }
    this.#byPeer.set(peer, connection)
    this.#membersOf('').add(connection)
    socket.once('close', () => this.#forget(connection))
  }

  /** Counts a request on its connection until `response` closes. */
  begin(request: HttpRequest, response: { on(event: 'close', done: () => void): void }): void {
    const connection = this.#connectionOf(request)
    if (connection === undefined) return
    connection.running++
    response.on('close', () => {
      connection.running--
      connection.idleSince = performance.now()
    })
  }

  /** The connection of the request belongs to this account now. */
  belongs(request: HttpRequest, account: string): void {
    const connection = this.#connectionOf(request)
    if (connection === undefined || connection.account === account) return
    this.#leave(connection)
    connection.account = account
    if (this.#byPeer.get(connection.peer) === connection) this.#membersOf(account).add(connection)
  }

  /** Whether a request of HTTP/1.1 is in progress on the connection. */
  isBusy(socket: Socket): boolean {
    return (this.#byPeer.get(peerOf(socket) ?? '')?.running ?? 0) > 0
  }

  #connectionOf(request: HttpRequest): Connection | undefined {
    const holder = 'stream' in request ? request.stream.session : request.socket
    // A stream that was reset has no session.
    if (holder === undefined || holder === null) return undefined
    const known = this.#known.get(holder)
    if (known !== undefined) return known
    const found = this.#byPeer.get(peerOf(request.socket) ?? '')
    if (found !== undefined) this.#known.set(holder, found)
    return found
  }

  #membersOf(account: string): Set<Connection> {
    const known = this.#accounts.get(account) ?? new Set()
    this.#accounts.set(account, known)
    return known
  }

  /** Closes idle connections of the account with the most that has any. Returns their number. */
  #closeIdle(): number {
    const count = Math.ceil(this.#most * closedAtOnce)
    for (const [, members] of [...this.#accounts].sort(byConnections)) {
      const idle = [...members].filter(({ running }) => running === 0)
      const longest = idle.sort((a, b) => a.idleSince - b.idleSince).slice(0, count)
      for (const connection of longest) this.#close(connection)
      if (longest.length > 0) return longest.length
    }
    return 0
  }

  #close(connection: Connection): void {
    this.#closed++
    this.#count()
    this.#forget(connection)
    connection.socket.destroy()
    const time = performance.now()
    if (time - this.#loggedAt < logInterval) return
    this.#loggedAt = time
    this.#log?.warn(
      { limit: this.#most, closed: this.#closed },
      'the limit of connections is reached: idle connections are closed',
    )
  }

  #forget(connection: Connection): void {
    if (this.#byPeer.get(connection.peer) === connection) this.#byPeer.delete(connection.peer)
    this.#leave(connection)
  }

  #leave(connection: Connection): void {
    const members = this.#accounts.get(connection.account)
    members?.delete(connection)
    if (members?.size === 0) this.#accounts.delete(connection.account)
  }
}

type Account = readonly [name: string, members: ReadonlySet<Connection>]

/** The account with the most connections first; of equal ones, that without a request. */
const byConnections = ([name, a]: Account, [, b]: Account): number =>
  b.size - a.size || (name === '' ? -1 : 1)

/** The address and port of the client; undefined if the connection is closed already. */
const peerOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>) =>
  remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`

/**
 * Logs that connections cannot be accepted, such as EMFILE when no file is left, at most every ten seconds: an error of a server
 * that nothing listens to would end the process. The server accepts again as soon as it can.
 */
export function logRefusedConnections(server: NodeServer, log: Logger | undefined): void {
  let loggedAt = Number.NEGATIVE_INFINITY
  server.on('error', ({ message }: Error) => {
    const time = performance.now()
    if (time - loggedAt < logInterval) return
    loggedAt = time
    log?.error({ error: message }, 'a connection could not be accepted')
  })
}

/** Counts the connections of a server, and their requests. */
export function limitConnections(server: NodeServer, limit: ConnectionLimit): void {
  server.on('connection', (socket: Socket) => limit.add(socket))
  server.on('request', (request: HttpRequest, response: ServerResponse) => limit.begin(request, response))
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => limit.begin(request, socket))
}

const beginnings = new Beginnings()
const arrived = new WeakMap<object, { begun: number }>()

/**
 * When many requests of one connection arrive together, most wait for a turn of the event loop, and those that their client has reset by
 * then are left out. Otherwise a client that opens and resets streams is answered a thousand times in one turn.
 */
export const arriving =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const turn = turnOf(request)
    if (turn === undefined) listener(request, response)
    else void turn.then(() => isGone(request, response) || listener(request, response))
  }

function turnOf(request: HttpRequest): Promise<void> | undefined {
  const connection = 'stream' in request ? request.stream.session : request.socket
  if (!connection) return undefined
  const known = arrived.get(connection) ?? { begun: -1 }
  arrived.set(connection, known)
  return beginnings.begin(known)
}

const isGone = (request: HttpRequest, response: ServerResponse): boolean =>
  'stream' in request ? request.stream.destroyed : response.destroyed
