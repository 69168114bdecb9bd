import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { promisify } from 'node:util'

/** The server under attack, its certificate authority, and the credentials of a user. */
export interface Attacker {
  readonly url: string
  /** PEM. */
  readonly ca: string
  readonly token: string
}

/** HTTP/2 streams whose client reads nothing, or stops writing. */
export interface Stalling {
  /** The status of each response that has begun. */
  readonly statuses: readonly number[]
  /** Streams that the server has closed. */
  readonly closed: number
  leave(): void
}

export interface Stalled {
  readonly connections: number
  /** Per connection. */
  readonly streams: number
  readonly method: 'GET' | 'POST'
  readonly path: string
}

/**
 * Opens connections with a flow-control window of 0, and sends requests on each: a GET, or a POST whose body does not end.
 * Resolves when the server has received all of them.
 */
export async function stall({ url, ca, token }: Attacker, wanted: Stalled): Promise<Stalling> {
  const statuses: number[] = []
  let closed = 0
  const watch = (stream: ClientHttp2Stream): void => {
    stream.on('response', head => statuses.push(Number(head[':status'])))
    stream.on('error', () => undefined)
    stream.on('close', () => closed++)
  }
  const sessions = await Promise.all(Array.from({ length: wanted.connections }, () => openSession(url, ca)))
  for (const session of sessions) {
    for (let i = 0; i < wanted.streams; i++) watch(send(session, wanted, token))
    // The server acknowledges frames in their order.
    await promisify(session.ping.bind(session) as (done: (error: Error | null) => void) => boolean)()
  }
  return {
    statuses,
    get closed() {
      return closed
    },
    leave: () => {
      for (const session of sessions) session.destroy()
    },
  }
}

async function openSession(url: string, ca: string): Promise<ClientHttp2Session> {
  const session = connect(url, { ca, servername: '', settings: { initialWindowSize: 0 } })
  session.on('error', () => undefined)
  await once(session, 'remoteSettings')
  return session
}

function send(session: ClientHttp2Session, { method, path }: Stalled, token: string): ClientHttp2Stream {
  const headers = { ':method': method, ':path': path, authorization: `Bearer ${token}` }
  if (method === 'GET') return session.request(headers)
  const half = session.request({ ...headers, 'content-type': 'application/json', 'content-length': 1000 })
  half.write('{"apiVersion":"v1",')
  return half
}
