import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import { silent } from '../contract/log.ts'
import { ConnectionLimit, logRefusedConnections } from './connections.ts'
import { type Listener, listen } from './listener.ts'

const most = 4

/** A connection of one user, with its requests. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #port: number
  readonly #user: string
  hasClosed = false
  socket: Socket | undefined

  constructor(port: number, user: string) {
    this.#port = port
    this.#user = user
  }

  /** The status of the response; rejects if the connection is closed. */
  async ask(path = '/'): Promise<number | undefined> {
    const headers = { user: this.#user }
    const asked = request({ host: '127.0.0.1', port: this.#port, path, headers, agent: this.#agent })
    asked.on('socket', socket => {
      this.socket = socket
      socket.once('close', () => {
        this.hasClosed = true
      })
    })
    const response = once(asked.end(), 'response') as Promise<[IncomingMessage]>
    const [{ statusCode }] = await response
    if (path === '/') await once((await response)[0].resume(), 'end')
    return statusCode
  }

  close(): void {
    this.#agent.destroy()
  }
}

describe('the limit of connections', () => {
  let limit: ConnectionLimit
  let listener: Listener
  let clients: Client[]
  const open = (user: string): Client => {
    const client = new Client(listener.port, user)
    clients.push(client)
    return client
  }
  const answer = (asked: IncomingMessage, response: ServerResponse): void => {
    limit.belongs(asked, String(asked.headers.user ?? ''))
    response.writeHead(200)
    if (asked.url === '/watch') response.write('first')
    else response.end('whole')
  }
  const listening = (tls?: { cert: string; key: string }) =>
    listen({ host: '127.0.0.1', port: 0, connections: limit, ...(tls && { tls }) }, answer)

  beforeEach(async () => {
    limit = new ConnectionLimit(most)
    clients = []
    listener = await listening()
  })
  afterEach(async () => {
    for (const client of clients) client.close()
    await listener.drain(0)
  })

  const counted = async (count: number): Promise<void> => {
    while (limit.open !== count) await new Promise(resolve => setImmediate(resolve))
  }
  const closed = (client: Client) => client.hasClosed || once(client.socket as Socket, 'close')

  it('closes the connection of the user with the most that is idle for the longest time', async () => {
    const eve = [open('eve'), open('eve'), open('eve')]
    const bob = open('bob')
    for (const client of [bob, ...eve]) await client.ask()
    await eve[0]?.ask()
    assert.equal(await open('alice').ask(), 200)
    await closed(eve[1] as Client)
    assert.equal(limit.closed, 1)
    assert.deepEqual(
      [bob, ...eve].map(({ hasClosed }) => hasClosed),
      [false, false, true, false],
    )
  })

  it('keeps connections with a request in progress, and closes the new one if there are no others', async () => {
    const eve = Array.from({ length: most }, () => open('eve'))
    for (const client of eve) await client.ask('/watch')
    await assert.rejects(open('alice').ask(), { code: 'ECONNRESET' })
    assert.ok(eve.every(({ hasClosed }) => !hasClosed))
  })

  it('closes connections without a request before those of a user with fewer', async () => {
    const bob = open('bob')
    await bob.ask()
    const silent = Array.from({ length: most - 1 }, () => connect(listener.port, '127.0.0.1'))
    await counted(most)
    for (const user of ['a', 'b', 'c']) assert.equal(await open(user).ask(), 200)
    assert.equal(await bob.ask(), 200)
    assert.equal(bob.hasClosed, false)
    for (const socket of silent) socket.destroy()
  })

  it('counts connections until they close, and any number without a limit', async () => {
    limit = new ConnectionLimit(0)
    const unlimited = await listening()
    const sockets = Array.from({ length: 20 }, () => connect(unlimited.port, '127.0.0.1'))
    await counted(20)
    for (const socket of sockets) socket.destroy()
    await counted(0)
    assert.equal(limit.closed, 0)
    await unlimited.drain(0)
  })

  it('closes idle HTTP/2 sessions, and keeps those with a stream', async () => {
    const { certificate, key } = issueServing(issueAuthority(), ['127.0.0.1'])
    const secure = await listening({ cert: certificate, key })
    const session = (user: string, path: string) => {
      const made = connectHttp2(`https://127.0.0.1:${secure.port}`, { rejectUnauthorized: false })
      made.on('error', () => undefined)
      const stream = made.request({ ':path': path, user })
      return { made, answered: once(stream, 'response').then(() => stream.resume()) }
    }
    const busy = session('eve', '/watch')
    const idle = [session('eve', '/'), session('eve', '/'), session('bob', '/')]
    for (const { answered } of [busy, ...idle]) await answered
    const ended = once(idle[0]?.made as never, 'close')
    await session('alice', '/').answered
    await ended
    assert.equal(busy.made.closed, false)
    assert.equal(limit.closed, 1)
    await secure.drain(0)
  })
})

describe('a connection that cannot be accepted', () => {
  it('is logged, once for many, and does not end the process', () => {
    const lines: object[] = []
    const server = createServer()
    logRefusedConnections(server, { ...silent, error: fields => void lines.push(fields) })
    for (let i = 0; i < 100; i++) server.emit('error', new Error('accept EMFILE'))
    assert.deepEqual(lines, [{ error: 'accept EMFILE' }])
  })
})
