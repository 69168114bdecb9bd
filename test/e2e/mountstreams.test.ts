import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer, type RequestOptions, request, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { discard, kubectlFor, type Oriel, startOriel } from '../support/oriel.ts'
import { apply } from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { testCertificates } from '../support/wire.ts'

const endpoints = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'endpoints.example.io' },
  spec: {
    group: 'example.io',
    names: { plural: 'endpoints', singular: 'endpoint', kind: 'Endpoint' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

const total = 1024

/** Mebibytes. */
function* pieces(): Generator<Buffer> {
  const piece = Buffer.alloc(1 << 20, 'x')
  for (let i = 0; i < total; i++) yield piece
}

/** Answers with a gibibyte, takes as much, and echoes over any other protocol. */
async function startTarget(): Promise<Server> {
  const { tls } = testCertificates()
  const server = createServer({ cert: tls.cert, key: tls.key }, async (asked, response) => {
    let received = 0
    for await (const chunk of asked) received += chunk.length
    if (asked.method === 'POST') response.end(String(received))
    else await pipeline(Readable.from(pieces()), response).catch(() => undefined)
  })
  server.on('upgrade', (asked: IncomingMessage, socket: Socket) => {
    const protocol = asked.headers.upgrade
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe('streams through a mounted workspace', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let target: Server
  let folder: string
  let options: RequestOptions

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-streams-'))
    const { authority } = testCertificates()
    await writeFile(join(folder, 'ca.crt'), authority.certificate)
    target = await startTarget()
    const flags = ['--mount-allow', '127.0.0.1', '--mount-ca-file', join(folder, 'ca.crt')]
    oriel = await startOriel({ args: [...flags, '--store', 'memory:'] })
    const root = kubectlFor(oriel, 'root')
    await apply(root, endpoints)
    await root(['wait', '--for=condition=Established', 'crd/endpoints.example.io'])
    const URL = `https://127.0.0.1:${(target.address() as AddressInfo).port}`
    const ref = { apiVersion: 'example.io/v1', kind: 'Endpoint', name: 'streams', namespace: 'default' }
    await apply(
      root,
      {
        apiVersion: 'example.io/v1',
        kind: 'Endpoint',
        metadata: { name: 'streams', namespace: 'default' },
        status: { phase: 'Ready', URL },
      },
      {
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'Workspace',
        metadata: { name: 'streams' },
        spec: { mount: { ref } },
      },
    )
    await root(['wait', '--for=condition=WorkspaceMountReady', 'workspace/streams', '--timeout=30s'])
    options = { agent: false }
    await configAt(oriel, oriel.url, 'shard-base').applyToHTTPSOptions(options)
  })
  after(async () => {
    target.closeAllConnections()
    target.close()
    await discard(oriel)
    await rm(folder, { recursive: true })
  })

  const ask = (path: string, more: RequestOptions = {}) =>
    request(oriel.url, { ...options, path, ...more, headers: { ...options.headers, ...more.headers } })
  const at = '/clusters/root:streams/api/v1/namespaces/default/pods/a'

  /** Of the server's process, in MiB. */
  async function memory(): Promise<number> {
    const sent = ask('/metrics').end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await response.toArray()).toString()
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / (1 << 20)
  }

  it('take a gibibyte in either direction without keeping it', async () => {
    const before = await memory()
    const upload = ask(`${at}/log`, { method: 'POST' })
    await pipeline(Readable.from(pieces()), upload)
    const [taken] = (await once(upload, 'response')) as [IncomingMessage]
    assert.equal(Buffer.concat(await taken.toArray()).toString(), String(total << 20))
    const download = ask(`${at}/log`).end()
    const [given] = (await once(download, 'response')) as [IncomingMessage]
    let received = 0
    for await (const chunk of given) received += chunk.length
    assert.equal(received, total << 20)
    const grown = (await memory()) - before
    assert.ok(grown < 150, `the server has grown by ${Math.round(grown)} MiB`)
  })

  for (const [method, protocol] of [
    ['POST', 'SPDY/3.1'],
    ['GET', 'websocket'],
  ] as const)
    it(`speak ${protocol} with the other side, as exec does`, async () => {
      const headers = { connection: 'Upgrade', upgrade: protocol }
      const sent = ask(`${at}/exec?command=cat`, { method, headers }).end()
      const [answer, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket]
      assert.deepEqual([answer.statusCode, answer.headers.upgrade], [101, protocol])
      socket.write('hello')
      const [echo] = await once(socket, 'data')
      assert.equal(String(echo), 'hello')
      socket.end()
      await once(socket, 'close')
    })

  it('are ordinary answers where nobody passes them on', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    for (const path of ['/clusters/root/api/v1/namespaces', '/healthz']) {
      const sent = ask(path, { headers }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      assert.equal(answer.statusCode, 200)
      await answer.toArray()
    }
  })
})
