import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OtlpExporter } from './otlp.ts'
import { newSpanId, newTraceId, type Span } from './span.ts'

const span = (): Span => ({
  traceId: newTraceId(),
  spanId: newSpanId(),
  parentId: '',
  name: 'list pods',
  kind: 'server',
  start: 1_000,
  end: 1_001,
  attributes: { 'oriel.view': 'apiexport', code: 200 },
})

interface Export {
  readonly resourceSpans: readonly [{ readonly scopeSpans: readonly [{ readonly spans: readonly object[] }] }]
}

describe('the export of spans', () => {
  let server: Server
  let url: string
  let status: number
  const exports: Export[] = []
  const warnings: unknown[] = []
  const log = { warn: (fields: unknown) => void warnings.push((fields as { reason?: string }).reason) }
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      exports.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(status, { location: '/elsewhere' }).end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`
  })
  beforeEach(() => {
    exports.length = 0
    warnings.length = 0
    status = 200
  })
  after(() => void server.close())

  const spansOf = (sent: Export) => sent.resourceSpans[0].scopeSpans[0].spans

  it('sends the spans that wait when the process ends, in requests of a limited size', async () => {
    const exporter = new OtlpExporter({ url, log })
    exporter.add(Array.from({ length: 1_000 }, span))
    await exporter.close()
    assert.deepEqual(
      exports.map(sent => spansOf(sent).length),
      [512, 488],
    )
    assert.deepEqual(warnings, [])
  })

  it('drops spans when too many wait', async () => {
    const exporter = new OtlpExporter({ url, log })
    for (let i = 0; i < 5; i++) exporter.add(Array.from({ length: 1_000 }, span))
    await exporter.close()
    assert.equal(exports.flatMap(spansOf).length, 4_000)
  })

  it('logs the reason once when the receiver fails, and follows no redirect', async () => {
    status = 307
    const exporter = new OtlpExporter({ url, log })
    exporter.add(Array.from({ length: 1_000 }, span))
    await exporter.close()
    assert.equal(exports.length, 1)
    assert.deepEqual(warnings, ['the receiver responded with 307'])
  })

  it('logs the reason when there is no receiver', async () => {
    const exporter = new OtlpExporter({ url: 'http://127.0.0.1:1/v1/traces', log })
    exporter.add([span()])
    await exporter.close()
    assert.deepEqual(warnings, ['connection refused'])
  })
})
