import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { issueAuthority } from '../../cmd/certificates/certificates.ts'
import { clustersView } from '../../cmd/views/clustersview.ts'
import { promised } from '../../framework/async/awaitable.ts'
import type { Informer } from '../../framework/contract/informer.ts'
import { type Logger, silent } from '../../framework/contract/log.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import type { Server } from '../../framework/server/server.ts'
import { type RemoteShard, remoteShard } from '../../remote/backend.ts'
import { connectShard, type ShardConnection } from '../../remote/connection/connection.ts'
import { type TestShard, testShard } from '../../shard/testing/shard.ts'
import { issueClient } from '../support/clientcertificates.ts'
import { testContext } from '../support/context.ts'
import { eventually } from '../support/oriel.ts'
import { type Gate, openGate } from '../support/servers/gate.ts'
import { serveShard } from '../support/servers/servedshard.ts'
import { testCertificates } from '../support/wire.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const info = { ...configMaps, namespace: 'default' }
const configMap = (name: string, text = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { text },
})

describe('a shard in another process', () => {
  let shard: TestShard
  let server: Server
  let access: ServerAccess
  let gate: Gate
  let connection: ShardConnection
  let remote: RemoteShard
  let lines: string[]
  let stop: AbortController

  const log: Logger = { ...silent, warn: (_, text) => lines.push(text), error: (_, text) => lines.push(text) }
  log.child = () => log

  beforeEach(async () => {
    lines = []
    stop = new AbortController()
    shard = await testShard()
    await shard.addCluster('one')
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    await shard.client.create(namespaces, { cluster: 'one', namespace: '', name: 'default' }, namespace)
    const served = await serveShard(shard, [clustersView({ ...shard, log: silent })])
    server = served.server
    gate = await openGate(server.port)
    access = { ...served.access, server: `https://127.0.0.1:${gate.port}` }
    connect(access)
  })
  afterEach(async () => {
    stop.abort()
    await connection.close()
    await gate.close()
    await server.close(0)
    await shard.stop()
  })

  function connect(to: ServerAccess, headersTimeout?: number): void {
    connection = connectShard(to, log, headersTimeout)
    remote = remoteShard({ connection, log, signal: stop.signal })
  }

  async function reconnect(to: ServerAccess, headersTimeout?: number): Promise<void> {
    stop.abort()
    await connection.close()
    stop = new AbortController()
    lines.length = 0
    connect(to, headersTimeout)
  }

  const add = (name: string, text?: string): Promise<unknown> =>
    shard.client.create(configMaps, { cluster: 'one', namespace: 'default', name }, configMap(name, text))
  const told = (pattern: RegExp): Promise<unknown> =>
    eventually(
      async () => lines,
      all => all.some(line => pattern.test(line)),
    )
  const synced = (): Informer => remote.informers.for(configMaps)
  const namesIn = (informer: Informer): readonly string[] => informer.list().map(item => item.key.name)

  describe('that cannot be used', () => {
    const cases: readonly [string, (right: ServerAccess) => Partial<ServerAccess>, RegExp][] = [
      [
        'is unreachable',
        () => ({ server: 'https://127.0.0.1:1' }),
        /127\.0\.0\.1:1 cannot be used: connection refused: start the server, or correct server in the kubeconfig$/,
      ],
      [
        'has a certificate of another authority',
        () => ({ ca: issueAuthority().certificate }),
        /: its certificate is signed by an unknown authority: set certificate-authority in the kubeconfig/,
      ],
      ['rejects the user', () => ({ token: 'withdrawn' }), /: it rejects the credentials in the kubeconfig/],
      [
        'allows its user only some logical clusters',
        () => ({ token: 'weak' }),
        /: its user may not see the objects of all logical clusters: use a kubeconfig whose user is in the group system:masters$/,
      ],
      [
        'has a certificate for another host',
        right => ({ server: right.server.replace('127.0.0.1', '127.0.0.2') }),
        /: (its certificate is for another host|connection refused)/,
      ],
    ]
    for (const [what, wrong, line] of cases)
      it(`because it ${what}: one line reports what to change, and it continues after the change`, async () => {
        await reconnect({ ...access, ...wrong(access) })
        await add('a')
        const informer = synced()
        await told(line)
        assert.equal(connection.reach.isGood(), false)
        connection.use(access)
        await informer.synced
        await told(/can be used again$/)
        assert.deepEqual(namesIn(informer), ['a'])
        assert.equal(connection.reach.isGood(), true)
        assert.equal(lines.length, 2, lines.join('\n'))
      })
  })

  it('whose certificate expires while it is used: one line reports what to change, and it continues after the change', async () => {
    const { authority, tls } = testCertificates()
    const hours = 2 / 3600
    const until = Date.now() + hours * 3_600_000
    const serving = { subject: 'CN=shard', serverOnly: true, hosts: ['127.0.0.1', 'localhost'], hours }
    const { certificate, key } = await issueClient(authority, serving)
    server.useCertificate({ cert: certificate, key })
    const informer = synced()
    await informer.synced
    await eventually(
      async () => Date.now(),
      now => now > until,
    )
    assert.deepEqual(lines, [])
    // Open connections stay open.
    gate.cut()
    await told(/: its certificate has expired: renew the serving certificate$/)
    server.useCertificate(tls)
    await told(/can be used again$/)
    await add('a')
    await eventually(
      async () => namesIn(informer),
      names => names.length === 1,
    )
    assert.equal(lines.length, 2, lines.join('\n'))
  })

  it('that is too slow: one line reports that, and it continues when it is faster', async () => {
    await reconnect(access, 100)
    gate.hold()
    const informer = synced()
    await told(/: it has not answered in time: check the load of the server, and the network$/)
    gate.release()
    await told(/can be used again$/)
    await informer.synced
    assert.equal(lines.length, 2, lines.join('\n'))
  })

  it('that was down is watched again: no event is lost or repeated', async () => {
    const seen: string[] = []
    const watching = new AbortController()
    const ctx = testContext({ cluster: '*', info, signal: watching.signal })
    const watch = remote.backend
      .storage(configMaps)
      .watch(ctx, { cluster: '*', initialEvents: true, bookmarks: false })
    const reading = (async () => {
      for await (const events of watch) for (const { item } of events) seen.push(item.key.name)
    })()
    await add('a')
    await eventually(
      async () => seen.length,
      length => length === 1,
    )
    for (const name of ['b', 'c', 'd']) {
      gate.cut()
      await add(name)
      await eventually(
        async () => seen.at(-1),
        last => last === name,
      )
    }
    const { port } = server
    await server.close(0)
    await add('e')
    await told(/cannot be used/)
    server = (await serveShard(shard, [clustersView({ ...shard, log: silent })], port)).server
    await add('f')
    await eventually(
      async () => seen.at(-1),
      last => last === 'f',
    )
    assert.deepEqual(seen, ['a', 'b', 'c', 'd', 'e', 'f'])
    watching.abort()
    await reading
  })

  it('that drops the connection in the middle of a list fails the list, and serves the next one', async () => {
    for (let i = 0; i < 20; i++) await add(`n${i}`, 'x'.repeat(20_000))
    gate.cutAfter(100_000)
    gate.cut()
    const all = async (): Promise<number> => {
      const ctx = testContext({ cluster: '*', info })
      const list = remote.backend.storage(configMaps).list(ctx, { cluster: '*' })
      let count = 0
      for (;;) {
        const next = await list.next()
        if (next.done) return count
        count += next.value.length
      }
    }
    await assert.rejects(all(), { name: 'StatusError', code: 502 })
    gate.cutAfter(undefined)
    assert.equal(await all(), 20)
  })

  it('that is slow is not waited for longer than the client waits, and keeps nothing', async () => {
    const before = gate.open
    gate.hold()
    const asking = new AbortController()
    const ctx = testContext({ cluster: 'one', info, signal: asking.signal })
    const key = { cluster: 'one', namespace: 'default', name: 'a' }
    const answer = promised(() => remote.backend.storage(configMaps).get(ctx, key))
    answer.catch(() => undefined)
    await eventually(
      async () => gate.open,
      open => open > before,
    )
    asking.abort()
    await assert.rejects(answer)
    gate.release()
    assert.deepEqual(lines, [])
  })

  it('gets no further requests of clients that left', async () => {
    const query = { cluster: '*', initialEvents: true, bookmarks: true } as const
    const leaving = new AbortController()
    const ctx = testContext({ cluster: '*', info, signal: leaving.signal })
    setMaxListeners(0, leaving.signal)
    const watches = Array.from({ length: 20 }, () => remote.backend.storage(configMaps).watch(ctx, query))
    for (const watch of watches) await watch.next()
    const arriving = watches.map(watch => watch.next())
    await add('a')
    await Promise.all(arriving)
    const pending = watches.map(watch => watch.next())
    leaving.abort()
    await Promise.all(pending)
    // Only connections of the shard's informer and of the copy, and idle ones, remain.
    await eventually(
      async () => gate.open,
      open => open <= 3,
    )
  })

  it('that serves an identity after the watch started sends all its objects', async () => {
    const ref = { ...configMaps, resource: 'widgets', group: 'example.com', identity: 'abc' }
    const ctx = testContext({ cluster: '*', info: { ...info, ...ref } })
    const list = remote.backend.storage(ref).list(ctx, { cluster: '*' })
    const { done, value } = await list.next()
    assert.deepEqual([done, value], [true, { resourceVersion: '0' }])
    const stopping = new AbortController()
    const silence = { ...ctx, signal: stopping.signal }
    const watch = remote.backend
      .storage(ref)
      .watch(silence, { cluster: '*', resourceVersion: '0', initialEvents: true, bookmarks: true })
    const [first] = (await watch.next()).value ?? []
    assert.equal(first?.type, 'BOOKMARK')
    const next = watch.next()
    stopping.abort()
    assert.deepEqual(await next, { done: true, value: undefined })
  })
})
