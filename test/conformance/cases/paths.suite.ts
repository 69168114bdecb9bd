import assert from 'node:assert/strict'
import type { Reply } from '../../support/client.ts'
import {
  configMapsIn,
  expect,
  group,
  namespaces,
  partial,
  post,
  put,
  type Target,
  table,
  widget,
  widgetsIn,
} from '../fixture.ts'

const accept = (value: string) => ({ headers: { accept: value } })

/** Cases 1 to 10 of rules.md: paths and negotiation. */
export function pathCases(target: () => Target): void {
  let ns = ''
  before(async () => {
    ns = await target().namespace()
    await expect(201, target().client(widgetsIn(ns), post(widget('a', { color: 'red' }))))
  })
  const ask = (path: string, sent?: Parameters<Target['client']>[1]): Promise<Reply> =>
    target().client(path, sent)

  it('1: reads a namespace by its path (1.6)', async () => {
    const object = await expect(200, ask(`${namespaces}/${ns}`))
    assert.deepEqual([object.kind, object.metadata.name], ['Namespace', ns])
  })

  it('2: watches for ?watch without a value, and answers before any event (1.9, 4.47)', async () => {
    const stream = await target().client.watch(`/apis/${group}/v1/widgets?watch`)
    assert.deepEqual([stream.status, stream.headers['content-type']], [200, 'application/json'])
    assert.equal(stream.headers['transfer-encoding'], 'chunked')
    stream.leave()
  })

  it('3: distinguishes unknown resources from unsupported methods (1.13, 1.14)', async () => {
    assert.equal((await ask('/apis/nope.io/v1/things')).status, target().unknown)
    const unknown = await expect(404, ask(`${widgetsIn(ns)}/a/frobnicate`))
    assert.equal(unknown.reason, 'NotFound')
    const method = await ask(configMapsIn(ns), put({}))
    if (!target().isKcp) assert.deepEqual([method.status, method.json().reason], [405, 'MethodNotAllowed'])
    const nameless = await ask(widgetsIn(ns), put(widget('a')))
    assert.ok(nameless.status >= 400 && nameless.status < 500, String(nameless.status))
    assert.equal(nameless.json().kind, 'Status')
  })

  it('4: lists its media types in the refusal of another one (1.24)', async () => {
    const { reason, message } = await expect(406, ask(widgetsIn(ns), accept('application/xml')))
    assert.equal(reason, 'NotAcceptable')
    assert.match(message ?? '', /^only the following media types are accepted: .*json.*yaml/)
  })

  it('5: refuses bodies in a format that it does not read (1.33)', async () => {
    const name = target().fresh()
    const { reason, message } = await expect(
      415,
      ask(widgetsIn(ns), post(JSON.stringify(widget(name)), { 'content-type': 'text/plain' })),
    )
    assert.equal(reason, 'UnsupportedMediaType')
    assert.match(
      message ?? '',
      /^the body of the request was in an unknown format - accepted media types include: /,
    )
    await expect(404, ask(`${widgetsIn(ns)}/${name}`))
  })

  it('6: returns custom resources in JSON when protobuf is preferred (1.23)', async () => {
    const reply = await ask(
      `${widgetsIn(ns)}/a`,
      accept('application/vnd.kubernetes.protobuf,application/json'),
    )
    assert.deepEqual([reply.status, reply.headers['content-type']], [200, 'application/json'])
  })

  it('7: shows kubectl a Table (1.28, 7.51, 7.55)', async () => {
    const reply = await ask(widgetsIn(ns), accept(table))
    const body = reply.json<Table>()
    assert.deepEqual([body.kind, body.apiVersion], ['Table', 'meta.k8s.io/v1'])
    assert.deepEqual(
      body.columnDefinitions.map(column => column.name),
      ['Name', 'Color'],
    )
    assert.deepEqual(body.rows[0]?.cells, ['a', 'red'])
    assert.equal(body.rows[0]?.object?.kind, 'PartialObjectMetadata')
    assert.match(body.metadata.resourceVersion, /^[1-9]\d*$/)
  })

  it('8: omits objects from a Table on request (1.28)', async () => {
    await expect(400, ask(`${widgetsIn(ns)}?includeObject=Bogus`, accept(table)))
    const body = (await ask(`${widgetsIn(ns)}?includeObject=None`, accept(table))).json<Table>()
    assert.deepEqual(
      body.rows.map(row => row.object ?? null),
      [null],
    )
  })

  it('9: sends metadata only (1.25, 1.29)', async () => {
    const object = await expect(200, ask(`${widgetsIn(ns)}/a`, accept(partial('PartialObjectMetadata'))))
    assert.deepEqual(Object.keys(object).sort(), ['apiVersion', 'kind', 'metadata'])
    assert.equal(object.kind, 'PartialObjectMetadata')
    const { message } = await expect(406, ask(widgetsIn(ns), accept(partial('PartialObjectMetadata'))))
    assert.match(message ?? '', /^you requested PartialObjectMetadata, but the requested object is a list/)
  })

  it('10: refuses large bodies (1.35)', async () => {
    const head = '{"metadata":{"name":"big"},"spec":{"note":"'
    const body = `${head}${'x'.repeat(3_145_729 - head.length - 3)}"}}`
    assert.equal(body.length, 3_145_729)
    const { reason, message } = await expect(413, ask(widgetsIn(ns), post(body)))
    assert.equal(reason, 'RequestEntityTooLarge')
    assert.match(message ?? '', /Request entity too large: limit is 3145728/)
  })
}

interface Table {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly resourceVersion: string }
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly {
    readonly cells: readonly unknown[]
    readonly object?: { readonly kind: string } | null
  }[]
}
