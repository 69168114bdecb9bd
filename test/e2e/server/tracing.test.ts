import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  compiled,
  discard,
  eventually,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { startStandalone } from '../../support/servers/standalone.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

const attributeOf = (span: SentSpan, key: string): string | undefined => {
  const value = span.attributes.find(each => each.key === key)?.value
  return value?.stringValue ?? value?.intValue
}

/** A receiver of OTLP/HTTP that keeps the spans. */
async function startReceiver(): Promise<{ server: Server; spans: SentSpan[]; port: number }> {
  const spans: SentSpan[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      assert.equal(request.url, '/v1/traces')
      const sent = JSON.parse(Buffer.concat(chunks).toString()) as Sent
      spans.push(...sent.resourceSpans.flatMap(each => each.scopeSpans.flatMap(scope => scope.spans)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await new Promise(listening => void server.once('listening', listening))
  return { server, spans, port: (server.address() as AddressInfo).port }
}

describe('tracing', function () {
  this.timeout(60_000)
  let folder: string
  let oriel: Oriel | undefined
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-tracing-'))
  })
  afterEach(async () => {
    if (oriel !== undefined) await discard(oriel)
    oriel = undefined
    await rm(folder, { recursive: true })
  })

  const configuration = async (name: string, fields: object): Promise<readonly string[]> => {
    const file = join(folder, `${name}.yaml`)
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' }
    await writeFile(file, JSON.stringify({ ...kind, ...fields }))
    return ['--tracing-config-file', file]
  }

  it('has a span for each request with view, verb and cluster, and one for each of its steps', async () => {
    const { server, spans, port } = await startReceiver()
    oriel = await startOriel({
      args: await configuration('oriel', {
        endpoint: `127.0.0.1:${port}`,
        samplingRatePerMillion: 1_000_000,
      }),
    })
    await kubectlFor(oriel, 'root')(['get', 'configmaps'])
    const isList = (span: SentSpan) => span.name === 'list configmaps'
    const found = await eventually(
      async () => spans.find(isList),
      span => span !== undefined,
    )
    const root = found ?? assert.fail()
    assert.deepEqual(
      ['oriel.view', 'oriel.cluster', 'k8s.verb', 'http.response.status_code'].map(key =>
        attributeOf(root, key),
      ),
      ['clusters', 'root', 'list', '200'],
    )
    assert.equal(root.kind, 2)
    const steps = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['authenticate', 'wait for a seat', 'authorize', 'list'],
    )
    for (const step of steps) {
      assert.equal(step.traceId, root.traceId)
      assert.ok(BigInt(step.startTimeUnixNano) >= BigInt(root.startTimeUnixNano))
      assert.ok(BigInt(step.endTimeUnixNano) <= BigInt(root.endTimeUnixNano))
    }
    assert.equal(await oriel.stop(), 0)
    server.close()
  })

  it('passes the context on to the shard, which follows the decision of the views', async () => {
    const { server, spans, port } = await startReceiver()
    const endpoint = `127.0.0.1:${port}`
    const views = await configuration('views', { endpoint, samplingRatePerMillion: 1_000_000 })
    const shard = await configuration('shard', { endpoint })
    const standalone = await startStandalone(views, shard)
    oriel = standalone
    const list = '/services/apiexport/root/missing/clusters/*/api/v1/configmaps'
    const url = { ...standalone, url: standalone.viewsUrl }
    await kubectlFor(url, 'base').try(['get', '--raw', list])
    const isPassed = (span: SentSpan) =>
      span.kind === 2 && spans.some(each => each.kind === 3 && each.spanId === span.parentSpanId)
    const found = await eventually(
      async () => spans.find(isPassed),
      span => span !== undefined,
    )
    const hop = spans.find(each => each.spanId === found?.parentSpanId) ?? assert.fail()
    assert.equal(hop.traceId, found?.traceId)
    assert.match(hop.name, /^(GET|POST) to the shard$/)
    server.close()
  })

  it('passes the context on from a front proxy to its shard', async () => {
    const { server, spans, port } = await startReceiver()
    const fields = { endpoint: `127.0.0.1:${port}`, samplingRatePerMillion: 1_000_000 }
    const args = await configuration('both', fields)
    oriel = await startOriel({ args: [...(await writeProxyAuthority(folder)), ...args] })
    const proxy = await startFrontProxy({ folder, name: 'proxy', shards: [oriel], args })
    await proxy.kubectl(['-s', `${proxy.url}/clusters/root`, 'get', 'configmaps'])
    const parentOf = ({ parentSpanId }: SentSpan) => spans.find(({ spanId }) => spanId === parentSpanId)
    const isPassed = (span: SentSpan) => span.name === 'list configmaps' && parentOf(span) !== undefined
    const found = await eventually(
      async () => spans.find(isPassed),
      span => span !== undefined,
    )
    const parent = found && parentOf(found)
    assert.deepEqual([parent?.kind, parent?.name, parent?.traceId], [2, 'GET', found?.traceId])
    const profile = ['get', '--raw', '/debug/pprof/profile?seconds=0']
    const heap = ['get', '--raw', '/debug/pprof/heap']
    assert.match(await proxy.kubectl(profile), /"nodes"/)
    assert.match(
      (await proxy.kubectl.try(heap)).stderr,
      /heap snapshot is for members of system:masters only/,
    )
    for (const asked of [profile, heap])
      assert.match((await proxy.kubectl.try(['--token', 'nobody-token', ...asked])).stderr, /Forbidden/)
    await proxy.stop()
    server.close()
  })

  it('is not stalled by a receiver that hangs, and neither is the end of the process', async () => {
    const receiver = createSocketServer(() => undefined).listen(0, '127.0.0.1')
    await new Promise(listening => void receiver.once('listening', listening))
    const { port } = receiver.address() as AddressInfo
    oriel = await startOriel({
      args: await configuration('oriel', {
        endpoint: `http://127.0.0.1:${port}`,
        samplingRatePerMillion: 1_000_000,
      }),
    })
    const connected = new Promise(done => void receiver.once('connection', done))
    await kubectlFor(oriel, 'root')(['get', 'configmaps'])
    await connected
    assert.match(await kubectlFor(oriel, 'root')(['create', 'configmap', 'a']), /created/)
    assert.equal(await oriel.stop(), 0)
    receiver.close()
  })

  for (const [what, fields, message] of [
    ['an unknown field', { rate: 1 }, /unknown field "rate"/],
    ['a rate above one', { samplingRatePerMillion: 1_000_001 }, /samplingRatePerMillion is a whole number/],
    ['another endpoint', { endpoint: 'ftp://a' }, /endpoint is host:port, or an http or https URL/],
    ['another kind', { kind: 'Tracing' }, /give a TracingConfiguration of apiserver\.config\.k8s\.io\/v1/],
  ] as const)
    it(`refuses ${what} in one sentence`, async () => {
      const args = [
        compiled,
        'start',
        '--data-directory',
        folder,
        '--port',
        '0',
        ...(await configuration('oriel', fields)),
      ]
      const { code, stderr } = await run(process.execPath, args)
      assert.equal(code, 1)
      assert.match(stderr, message)
      assert.match(stderr, /^oriel: --tracing-config-file .*\.\n$/)
    })
})
