import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { mount, remoteClusters } from '../../support/servers/remoteclusters.ts'
import { apply } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import { testCertificates } from '../../support/wire.ts'

/** The responses of a hostile server, as bytes, by path. */
const answers: Readonly<Record<string, string>> = {
  '/fine': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nSet-Cookie: a=b\r\n\r\nfine',
  '/half': 'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nhalf',
  '/huge': `HTTP/1.1 200 OK\r\nX-Huge: ${'a'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`,
  '/nonsense': '\x00\x01\x02 no HTTP at all\r\n\r\n',
  '/two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfine!',
  '/both': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200',
  '/unasked': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello',
  '/metadata': 'HTTP/1.1 302 Found\r\nLocation: https://169.254.169.254/\r\nContent-Length: 0\r\n\r\n',
  '/inside': 'HTTP/1.1 302 Found\r\nLocation: /clusters/root/api\r\nContent-Length: 0\r\n\r\n',
  '/split': 'HTTP/1.1 200 OK\r\nX-Split: a\r\n\tb: c\r\nContent-Length: 4\r\n\r\nfine',
  '/reset': '',
}

interface Hostile {
  readonly url: string
  /** The request heads that it received. */
  readonly asked: string[]
  stop(): void
}

async function startHostile(): Promise<Hostile> {
  const { tls } = testCertificates()
  const asked: string[] = []
  const sockets = new Set<TLSSocket>()
  const server: Server = createServer({ cert: tls.cert, key: tls.key }, socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', chunk => {
      const text = String(chunk)
      asked.push(text)
      const path = /^\w+ ([^ ?]+)/.exec(text)?.[1]?.replace('/base', '') ?? ''
      const answer = answers[path]
      if (answer === undefined || answer === '') socket.destroy()
      else if (path === '/fine' || path.startsWith('/in') || path === '/metadata') socket.write(answer)
      else socket.end(answer)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/base`,
    asked,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a hostile server that is mounted', function () {
  this.timeout(120_000)
  let folder: string
  let oriel: Oriel
  let hostile: Hostile
  let clients: Readonly<Record<string, { readonly client: Client; readonly url: string }>>
  let stop: () => Promise<void>
  const at = '/clusters/root:hostile'

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-hostile-'))
    hostile = await startHostile()
    await writeFile(join(folder, 'mounts.crt'), testCertificates().authority.certificate)
    const flags = ['--mount-allow', '127.0.0.1', '--mount-ca-file', join(folder, 'mounts.crt')]
    const believed = await writeProxyAuthority(folder)
    oriel = await startOriel({ args: [...believed, ...flags, '--store', 'memory:'] })
    const root = kubectlFor(oriel, 'root')
    await apply(root, remoteClusters)
    await root(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await apply(root, ...mount('hostile', hostile.url))
    await root(['wait', '--for=condition=WorkspaceMountReady', 'workspace/hostile'])
    const proxy = await startFrontProxy({ folder, name: 'proxy', shards: [oriel], args: flags })
    const through = await proxy.client('admin-token')
    const direct = await clientOf(configAt(oriel, oriel.url, 'base'))
    clients = {
      'by the front proxy': { client: through, url: proxy.url },
      'by the server itself': { client: direct, url: oriel.url },
    }
    await eventually(
      () => through(`${at}/fine`),
      ({ status }) => status === 200,
    )
    stop = async () => {
      through.close()
      direct.close()
      await proxy.stop()
      await discard(oriel)
    }
  })
  after(async () => {
    hostile.stop()
    await stop()
    await rm(folder, { recursive: true })
  })
  const clientBy = (way: string): Client => {
    const found = clients[way]?.client
    assert.ok(found)
    return found
  }

  for (const way of ['by the front proxy', 'by the server itself'])
    describe(`reached ${way}`, () => {
      it('receives nothing about the user', async () => {
        const headers = {
          cookie: 'a=b',
          'x-remote-user': 'root',
          'impersonate-user': 'x',
          accept: 'text/plain',
        }
        hostile.asked.length = 0
        const { 'impersonate-user': _, ...harmless } = headers
        const reply = await clientBy(way)(`${at}/fine?watch=0`, { headers: harmless })
        assert.deepEqual([reply.status, reply.text, reply.headers['set-cookie']], [200, 'fine', undefined])
        const [head = ''] = hostile.asked
        assert.match(head, /^GET \/base\/fine\?watch=0 HTTP\/1.1\r\n/)
        assert.doesNotMatch(head, /authorization|bearer|token|cookie|x-remote|admin|forwarded/i)
      })

      for (const [path, what] of [
        ['/huge', 'too large a head'],
        ['/nonsense', 'nonsense'],
        ['/two-lengths', 'two lengths'],
        ['/both', 'a length and chunks'],
        ['/unasked', 'another protocol, unasked'],
        ['/reset', 'nothing and hangs up'],
      ] as const)
        it(`is reported when it answers with ${what}`, async () => {
          const reply = await clientBy(way)(at + path, { headers: { accept: 'application/json' } })
          assert.equal(reply.status, 502, reply.text)
          assert.match(reply.json().message ?? '', /^error trying to reach the server behind this endpoint/)
          assert.doesNotMatch(reply.text, /127\.0\.0\.1/)
        })

      it('cannot make a truncated response look complete', () => assert.rejects(clientBy(way)(`${at}/half`)))

      it('cannot add a header to a response', async () => {
        const reply = await clientBy(way)(`${at}/split`)
        assert.equal(reply.headers.b, undefined)
      })

      for (const path of ['/metadata', '/inside'])
        it(`cannot redirect clients (${path})`, async () => {
          const reply = await clientBy(way)(at + path)
          assert.deepEqual([reply.status, reply.headers.location], [302, undefined])
        })

      it('gets no second request out of one', async () => {
        hostile.asked.length = 0
        const { port, hostname } = new URL(clients[way]?.url ?? '')
        const inner = `GET ${at}/inner HTTP/1.1\r\nHost: a\r\n\r\n`
        const head = `POST ${at}/fine HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n`
        for (const request of [
          `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
          `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
          `${head}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
          `${head}X-A: b\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
        ]) {
          const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
          socket.on('error', () => undefined)
          socket.write(request)
          const [first] = (await once(socket, 'data')) as [Buffer]
          assert.match(String(first), /^HTTP\/1.1 400 /)
          socket.destroy()
        }
        assert.deepEqual(hostile.asked, [])
      })
    })
})
