import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** The address of a server in a benchmark. */
export interface Address {
  readonly port: number
  /** PEM of the authority, for TLS. */
  readonly ca?: string
}

/** An HTTP/1.1 request in bytes. */
export interface Request {
  readonly path: string
  readonly method?: string
  readonly body?: Buffer | string
  /** Content type of the body; default: JSON. */
  readonly contentType?: string
  /** Default: that of the user. */
  readonly token?: string
  /** Default: JSON. */
  readonly accept?: string
}

/** The tokens of `serve.ts`: of a user, of one with permission to read everything, and of an attacker. */
export const userToken = 'bench'
export const peerToken = 'peer'
/** Of a user who makes workspaces: kcp records no owner of those of `system:masters`, and never initializes them. */
export const creatorToken = 'creator'
export const attackerToken = 'attacker'
/** Of a user whom the attacker must not slow down. */
export const victimToken = 'victim'

/** The file of `--token-auth-file` of whole servers. */
export const tokenFile = `${userToken},bench,bench,"system:masters"
${creatorToken},creator,creator,"system:kcp:admin"
${attackerToken},attacker,attacker
${victimToken},victim,victim
`

export function encodeRequest({
  path,
  method = 'GET',
  body = '',
  contentType = 'application/json',
  token = userToken,
  accept = 'application/json',
}: Request): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    `Accept: ${accept}`,
    'User-Agent: bench/1.0',
    ...(body.length === 0
      ? []
      : [`Content-Type: ${contentType}`, `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

export async function openSocket({ port, ca }: Address): Promise<Socket> {
  const socket =
    ca === undefined
      ? connectTcp({ port, host: '127.0.0.1', noDelay: true })
      : connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] })
  await once(socket, ca === undefined ? 'connect' : 'secureConnect')
  return socket
}

const headEnd = Buffer.from('\r\n\r\n')
/** JSON does not contain these bytes, so that a chunk that ends with them is the last one. */
const lastChunk = '\r\n0\r\n\r\n'

/** Called with the status and the size of a response, headers and body; status 0: it was incomplete. */
export type Answered = (status: number, bytes: number) => void

/**
 * One connection that sends requests one after another. It costs much less than Node's client: a load generator on the
 * same machine must not affect the measurement.
 */
export class Connection {
  readonly socket: Socket
  #answered: Answered | undefined
  #status = 0
  #missing = 0
  #bytes = 0
  #tail = ''
  #kept: Buffer[] | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', chunk => this.#take(chunk))
    socket.on('close', () => this.#lose())
  }

  static async open(address: Address): Promise<Connection> {
    return new Connection(await openSocket(address))
  }

  ask(request: Buffer, answered: Answered): void {
    this.#answered = answered
    this.#bytes = 0
    this.#status = 0
    this.#tail = ''
    this.socket.write(request)
  }

  /** Reads the whole response; for set-up, not for measurements. */
  async read(
    request: Request,
  ): Promise<{ readonly status: number; readonly head: string; readonly body: Buffer }> {
    this.#kept = []
    const status = await new Promise<number>(resolve => this.ask(encodeRequest(request), resolve))
    const all = Buffer.concat(this.#kept)
    this.#kept = undefined
    const end = all.indexOf(headEnd)
    const head = all.toString('latin1', 0, end)
    const rest = all.subarray(end + headEnd.length)
    return { status, head, body: isChunked(head) ? joinChunks(rest) : rest }
  }

  close(): void {
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#kept?.push(chunk)
    this.#bytes += chunk.length
    if (this.#status === 0) this.#begin(chunk)
    else if (this.#missing >= 0) this.#missing -= chunk.length
    if (this.#missing === 0 || (this.#missing < 0 && this.#isLast(chunk))) this.#end()
  }

  #isLast(chunk: Buffer): boolean {
    const end = chunk.toString('latin1', Math.max(0, chunk.length - lastChunk.length))
    this.#tail = (this.#tail + end).slice(-lastChunk.length)
    return this.#tail === lastChunk
  }

  #begin(chunk: Buffer): void {
    const end = chunk.indexOf(headEnd)
    if (end < 0) throw new Error('the head of an answer came in pieces')
    const head = chunk.toString('latin1', 0, end)
    this.#status = Number(head.slice(9, 12))
    const length = /content-length: *(\d+)/i.exec(head)?.[1]
    this.#missing = length === undefined ? -1 : Number(length) - (chunk.length - end - headEnd.length)
  }

  #lose(): void {
    this.#status = 0
    this.#end()
  }

  #end(): void {
    const answered = this.#answered
    this.#answered = undefined
    answered?.(this.#status, this.#bytes)
  }
}

const isChunked = (head: string): boolean => /transfer-encoding: *chunked/i.test(head)

function joinChunks(encoded: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const line = encoded.indexOf('\r\n', at)
    const size = Number.parseInt(encoded.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(encoded.subarray(line + 2, line + 2 + size))
    at = line + 4 + size
  }
}
