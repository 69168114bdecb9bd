import assert from 'node:assert/strict'
import type { Frame, Stream } from '../../support/client.ts'
import { expect, merge, partial, post, remove, type Target, table, widget, widgetsIn } from '../fixture.ts'

/** Start and format of watches (rules.md 4.36 to 4.62). */
export function watchCases(target: () => Target): void {
  const open: Stream[] = []
  let path = ''
  beforeEach(async () => {
    path = widgetsIn(await target().namespace())
    await create('a')
  })
  afterEach(() => {
    for (const stream of open.splice(0)) stream.leave()
  })
  const create = (name: string) => expect(201, target().client(path, post(widget(name))))
  const watch = async (query = '', accept = 'application/json'): Promise<Stream> => {
    const stream = await target().client.watch(`${path}?watch=1${query}`, {
      headers: { accept, 'user-agent': 'curl/8' },
    })
    open.push(stream)
    return stream
  }
  const next = async (stream: Stream): Promise<Frame> =>
    (await stream.next()) ?? assert.fail('the watch ended')
  const toldBy = async (stream: Stream) => {
    const { type, object } = await next(stream)
    return `${type} ${object.metadata.name}`
  }
  const initial = (more: string): string => `&sendInitialEvents=${more}&resourceVersionMatch=NotOlderThan`

  it('begin with initial events without a resourceVersion, without a bookmark (4.39a, 4.40, 4.41)', async () => {
    for (const query of ['', '&resourceVersion=0', initial('true')]) {
      const stream = await watch(query)
      assert.equal(await toldBy(stream), 'ADDED a', query)
      const name = target().fresh()
      await create(name)
      assert.equal(await toldBy(stream), `ADDED ${name}`, query)
      await expect(200, target().client(`${path}/${name}`, remove()))
    }
  })

  it('begin without initial events on request (4.39d)', async () => {
    for (const version of ['', '&resourceVersion=0']) {
      const stream = await watch(`${initial('false')}${version}`)
      const name = target().fresh()
      await create(name)
      assert.equal(await toldBy(stream), `ADDED ${name}`)
    }
  })

  it('are of one object with a name, even if it does not exist (4.43)', async () => {
    const name = target().fresh()
    const stream = await watch(`&fieldSelector=metadata.name%3D${name}`)
    await create(target().fresh())
    await create(name)
    assert.equal(await toldBy(stream), `ADDED ${name}`)
  })

  it('have kind and version in every event, one to a line (4.48, 4.50, 4.51)', async () => {
    const stream = await watch('&pretty=true')
    await expect(200, target().client(`${path}/a`, merge({ spec: { size: 2 } })))
    await expect(200, target().client(`${path}/a`, remove()))
    const events = [await next(stream), await next(stream), await next(stream)]
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.kind, object.apiVersion]),
      ['ADDED', 'MODIFIED', 'DELETED'].map(type => [type, 'Widget', 'example.com/v1']),
    )
  })

  const marked = `${initial('true')}&allowWatchBookmarks=true`

  it('are of metadata on request, bookmarks too (4.54, 4.62)', async () => {
    const stream = await watch(marked, partial('PartialObjectMetadata'))
    const [added, bookmark] = [await next(stream), await next(stream)]
    assert.deepEqual([added.type, bookmark.type], ['ADDED', 'BOOKMARK'])
    for (const { object } of [added, bookmark])
      assert.deepEqual([object.kind, object.apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
    assert.deepEqual(Object.keys(added.object).sort(), ['apiVersion', 'kind', 'metadata'])
  })

  it('are of Table rows on request, bookmarks too (4.61)', async () => {
    const stream = await watch(`${marked}&includeObject=None`, table)
    const [added, bookmark] = [await next(stream), await next(stream)] as unknown as { object: Rows }[]
    assert.deepEqual([added?.object.kind, bookmark?.object.kind], ['Table', 'Table'])
    assert.equal(added?.object.rows[0]?.object ?? null, null)
    assert.equal(
      bookmark?.object.rows[0]?.object?.metadata.annotations?.['k8s.io/initial-events-end'],
      'true',
    )
    const shown = (await next(await watch('', table))) as unknown as { object: Rows }
    assert.equal(shown.object.rows[0]?.object?.kind, 'PartialObjectMetadata')
  })

  it('are refused before they begin (4.37, 4.44)', async () => {
    const refused = async (code: number, query: string) =>
      (await expect(code, target().client(`${path}?watch=1${query}`))).message ?? ''
    const invalid = 'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: '
    assert.equal(
      await refused(422, '&sendInitialEvents=true'),
      `${invalid}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
    )
    assert.equal(
      await refused(422, '&resourceVersionMatch=NotOlderThan'),
      `${invalid}Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
    )
    assert.match(
      await refused(422, '&resourceVersionMatch=Exact&sendInitialEvents=true'),
      /Unsupported value: "Exact": supported values: "NotOlderThan"/,
    )
    const { status } = await target().client('/apis/nope.io/v1/things?watch=1')
    assert.equal(status, target().unknown)
  })
}

interface Rows {
  readonly kind: string
  readonly rows: readonly {
    readonly object?: {
      readonly kind: string
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
    } | null
  }[]
}
