import assert from 'node:assert/strict'
import { once } from 'node:events'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer, type RequestOptions, request, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { KubeObject } from '../../../framework/index.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { apply, createWorkspaces, rolesFor } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import { testCertificates } from '../../support/wire.ts'

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

/** An event, followed by silence. */
const watched = '{"type":"BOOKMARK","object":{}}\n'

/** Sends a gibibyte, accepts a gibibyte, and echoes over any other protocol. */
async function startTarget(): Promise<Server> {
  const { tls } = testCertificates()
  const server = createServer({ cert: tls.cert, key: tls.key }, async (asked, response) => {
    let received = 0
    for await (const chunk of asked) received += chunk.length
    if (asked.method === 'POST') response.end(String(received))
    else if (asked.url?.endsWith('?watch=true')) response.write(watched)
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

/** A server through which the mounted one is used, and the administrator's credentials there. */
interface Entrance {
  readonly url: string
  readonly options: RequestOptions
}

const entrances = ['the server itself', 'a front proxy'] as const

describe('streams through a mounted workspace', function () {
  this.timeout(600_000)
  let oriel: Oriel
  let proxy: FrontProxy
  let target: Server
  let folder: string
  let team: Kubectl
  let ways: Readonly<Record<(typeof entrances)[number], Entrance>>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-streams-'))
    const { authority } = await testCertificates()
    await writeFile(join(folder, 'ca.crt'), authority.certificate)
    target = await startTarget()
    const flags = ['--mount-allow', '127.0.0.1', '--mount-ca-file', join(folder, 'ca.crt')]
    const believed = await writeProxyAuthority(folder)
    await appendFile(join(folder, 'shard-tokens.csv'), 'nobody-token,nobody,2\n')
    oriel = await startOriel({ args: [...believed, ...flags, '--store', 'memory:'] })
    const root = kubectlFor(oriel, 'root')
    for (const { kubectl } of await createWorkspaces(oriel, ['team'])) team = kubectl
    await apply(team, endpoints)
    await team(['wait', '--for=condition=Established', 'crd/endpoints.example.io'])
    const ref = { apiVersion: 'example.io/v1', kind: 'Endpoint', name: 'streams', namespace: 'default' }
    await apply(team, endpoint('Ready'), {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'streams' },
      spec: { mount: { ref } },
    })
    await team(['wait', '--for=condition=WorkspaceMountReady', 'workspace/streams', '--timeout=30s'])
    proxy = await startFrontProxy({ folder, name: 'proxy', shards: [oriel], args: flags })
    await root([
      ...['create', 'clusterrolebinding', 'metrics', '--clusterrole=system:kcp:metrics-reader'],
      '--user=admin',
    ])
    const [direct, through] = [{ agent: false }, { agent: false }] as const
    await configAt(oriel, oriel.url, 'shard-base').applyToHTTPSOptions(direct)
    await proxy.config('admin-token').applyToHTTPSOptions(through)
    ways = {
      'the server itself': { url: oriel.url, options: direct },
      'a front proxy': { url: proxy.url, options: through },
    }
  })
  after(async () => {
    target.closeAllConnections()
    target.close()
    await proxy.stop()
    await discard(oriel)
    await rm(folder, { recursive: true })
  })

  const endpoint = (phase: string): KubeObject => ({
    apiVersion: 'example.io/v1',
    kind: 'Endpoint',
    metadata: { name: 'streams', namespace: 'default' },
    status: { phase, URL: `https://127.0.0.1:${(target.address() as AddressInfo).port}` },
  })
  const at = '/clusters/root:team:streams/api/v1/namespaces/default/pods/a'

  for (const way of entrances)
    describe(`by ${way}`, () => {
      const ask = (path: string, more: RequestOptions = {}) => {
        const { url, options } = ways[way]
        return request(url, { ...options, path, ...more, headers: { ...options.headers, ...more.headers } })
      }
      const answerTo = async (path: string, more: RequestOptions = {}): Promise<IncomingMessage> => {
        const [answer] = (await once(ask(path, more).end(), 'response')) as [IncomingMessage]
        return answer
      }
      const shellAt = async (path: string, headers: RequestOptions['headers'] = {}): Promise<Socket> => {
        const upgrading = { ...headers, connection: 'Upgrade', upgrade: 'websocket' }
        const [, socket] = await once(ask(path, { headers: upgrading }).end(), 'upgrade')
        return socket
      }

      /** Memory of the forwarding process, in MiB. */
      async function memory(): Promise<number> {
        const text = Buffer.concat(await (await answerTo('/metrics')).toArray()).toString()
        return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / (1 << 20)
      }

      it('transfer a gibibyte in either direction without buffering it', async () => {
        const before = await memory()
        const upload = ask(`${at}/log`, { method: 'POST' })
        await pipeline(Readable.from(pieces()), upload)
        const [taken] = (await once(upload, 'response')) as [IncomingMessage]
        assert.equal(Buffer.concat(await taken.toArray()).toString(), String(total << 20))
        let received = 0
        for await (const chunk of await answerTo(`${at}/log`)) received += chunk.length
        assert.equal(received, total << 20)
        const grown = (await memory()) - before
        assert.ok(grown < 150, `the server has grown by ${Math.round(grown)} MiB`)
      })

      for (const [method, protocol] of [
        ['POST', 'SPDY/3.1'],
        ['GET', 'websocket'],
      ] as const)
        it(`forward ${protocol}, as exec uses it`, async () => {
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

      it('end with the phase Ready, watches between two events, and come back with it', async () => {
        const watch = await answerTo(`${at}?watch=true`)
        const [event] = (await once(watch, 'data')) as [Buffer]
        assert.equal(String(event), watched)
        const closed = once(await shellAt(`${at}/exec`), 'close')
        await apply(team, endpoint('Connecting'))
        assert.equal(Buffer.concat(await watch.toArray()).length, 0)
        assert.equal(watch.complete, true)
        await closed
        const status = async () => (await answerTo(`${at}?watch=true`)).statusCode
        await eventually(status, code => code === 503)
        await apply(team, endpoint('Ready'))
        await eventually(status, code => code === 200)
      })

      it('end when their user loses access to the workspace that has the mount', async () => {
        await apply(team, ...rolesFor('nobody'))
        const headers = { Authorization: 'Bearer nobody-token' }
        const watch = await answerTo(`${at}?watch=true`, { headers })
        const [event] = (await once(watch, 'data')) as [Buffer]
        assert.equal(String(event), watched)
        const shells = await Promise.all(['exec', 'page'].map(name => shellAt(`${at}/${name}`, headers)))
        const closed = shells.map(shell => once(shell, 'close'))
        await team(['delete', 'clusterrolebinding', 'nobody-in-tests'])
        assert.equal(Buffer.concat(await watch.toArray()).length, 0)
        await Promise.all(closed)
        assert.equal((await answerTo(at, { headers })).statusCode, 403)
      })
    })

  it('are ordinary answers if upgrades are not forwarded', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const { url, options } = ways['the server itself']
    for (const path of ['/clusters/root/api/v1/namespaces', '/healthz']) {
      const sent = request(url, { ...options, path, headers: { ...options.headers, ...headers } }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      assert.equal(answer.statusCode, 200)
      await answer.toArray()
    }
  })
})
