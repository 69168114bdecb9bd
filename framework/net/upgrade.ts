import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ClientSide, Upgrade } from '../contract/upstream.ts'
import { badGateway, failureOf, tookTooLong } from './failure.ts'
import type { HeaderMap } from './headers.ts'
import { countInformational } from './informational.ts'

/** A request for another protocol to another server. */
export interface UpgradeOptions {
  /** Absolute, with path and query as they are sent. */
  readonly origin: string
  readonly target: string
  readonly headers: HeaderMap
  readonly answered: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  /** TLS and the address policy. */
  readonly connect: RequestOptions
}

const timeout = 30_000

/**
 * Forwards a request for another protocol (SPDY or WebSocket: exec, attach, port-forward) and, after a 101, the bytes of both
 * sides until one of them closes. No package does this for SPDY.
 */
export function forwardUpgrade(options: UpgradeOptions, client: ClientSide): Promise<void> {
  const { upgrade, lifetime } = client
  if (upgrade === undefined)
    return Promise.reject(badGateway('the client has not asked for another protocol'))
  return new Promise((resolve, reject) => {
    const asked = ask(options, client)
    asked.setTimeout(timeout, () => asked.destroy(tookTooLong()))
    // Not `once`: a connection that is reset can have another error.
    asked.on('error', error => reject(failureOf(error)))
    const informed = countInformational()
    asked.on('information', () => destroyWhenThrown(asked, informed))
    asked.once('response', answer => declined(options, client, answer).then(resolve, reject))
    asked.once('upgrade', (answer, socket, head) => {
      asked.setTimeout(0)
      agreed({ client, upgrade, head: headOf(options, answer) }, { socket, head })
      closeAfter(upgrade.socket, socket)
      lifetime.onEnd(() => socket.destroy())
      socket.once('close', resolve)
    })
    lifetime.onEnd(() => asked.destroy())
    asked.end()
  })
}

function destroyWhenThrown(asked: ClientRequest, work: () => void): void {
  try {
    work()
  } catch (error) {
    asked.destroy(error as Error)
  }
}

function ask({ origin, target, headers, connect }: UpgradeOptions, { request }: ClientSide): ClientRequest {
  const open = origin.startsWith('https:') ? httpsRequest : httpRequest
  const { hostname, port } = new URL(origin)
  return open({
    ...connect,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : Number(port),
    method: request.method,
    path: target,
    agent: false,
    headers: {
      ...(headers as OutgoingHttpHeaders),
      connection: 'Upgrade',
      upgrade: request.headers.upgrade,
    },
  } as RequestOptions)
}

/** The server responded without an upgrade. */
async function declined(
  { answered }: UpgradeOptions,
  { response }: ClientSide,
  answer: IncomingMessage,
): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answered(answer.headers))
  await pipeline(answer, response).catch(() => response.destroy())
}

interface Agreement {
  readonly client: ClientSide
  readonly upgrade: Upgrade
  /** What the client gets before the bytes of the server. */
  readonly head: Buffer
}

/** Both connections become byte streams. */
function agreed({ client, upgrade, head }: Agreement, server: Upgrade): void {
  const { socket } = upgrade
  client.response.detachSocket(socket as Parameters<typeof client.response.detachSocket>[0])
  socket.write(head)
  if (upgrade.head.length > 0) server.socket.write(upgrade.head)
  if (server.head.length > 0) socket.write(server.head)
  join(socket, server.socket)
  join(server.socket, socket)
}

function join(from: Duplex, to: Duplex): void {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.once('close', () => to.end())
}

/**
 * Closes the connection to the server after the client has closed its own: a server that does not close it would keep it (Kubernetes
 * `k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go`, `tryUpgrade`).
 */
function closeAfter(client: Duplex, server: Socket): void {
  client.once('close', () => server.destroy())
  client.once('end', () => {
    // It may not read what the client has sent last.
    server.setTimeout(timeout, () => server.destroy())
    server.destroySoon()
  })
}

/** The head of the answer with the headers that clients get, in bytes of one character each. */
function headOf({ answered }: UpgradeOptions, { statusMessage, headers }: IncomingMessage): Buffer {
  const { 'content-length': _, ...passed } = answered(headers)
  const sent = { ...passed, connection: 'Upgrade', ...(headers.upgrade && { upgrade: headers.upgrade }) }
  const lines = Object.entries(sent).flatMap(([name, value = []]) =>
    [value].flat().map(each => `${name}: ${each}\r\n`),
  )
  const status = `HTTP/1.1 101 ${statusMessage || 'Switching Protocols'}\r\n`
  return Buffer.from(`${status}${lines.join('')}\r\n`, 'latin1')
}
