import assert from 'node:assert/strict'
import { filled, fresh, partial, refuses, table } from '../../test/support/asked.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { type Asked, ask, bodyOf, jsonOf, type Told, widget, widgets } from '../../test/support/widgets.ts'
import type { KubeObject } from '../meta/object.ts'

describe('handle', () => {
  it('answers 404 for subresources that there are not, 405 for verbs that are not served', async () => {
    const resource = await filled('a')
    await refuses(resource, { verb: 'get', name: 'a', subresource: 'frobnicate' }, 404, /not found/)
    await refuses(
      resource,
      { verb: 'delete', name: 'a', subresource: 'status' },
      405,
      'delete is not supported on resources of kind "widgets.example.com"',
    )
  })

  it('answers 404 and 405 for scopes that do not fit', async () => {
    const builtIn = fresh({ custom: false })
    await refuses(fresh(), { verb: 'create', namespace: '', body: widget('a') }, 404, /could not find/)
    await refuses(fresh(), { verb: 'deletecollection', namespace: '' }, 404, /could not find/)
    await refuses(builtIn, { verb: 'deletecollection', namespace: '' }, 405, /does not allow this method/)
    await refuses(fresh({ namespaced: false }), { verb: 'list' }, 404, /could not find/)
    await refuses(fresh(), { verb: 'update', body: widget('a') }, 400, 'name must be provided')
    await refuses(builtIn, { verb: 'update', body: widget('a') }, 405, /does not allow this method/)
    await refuses(fresh(), { verb: 'get', name: 'a', cluster: '*' }, 400, /needs one logical cluster/)
  })

  it('takes a Namespace in its own namespace', async () => {
    const names = {
      plural: 'namespaces',
      singular: 'namespace',
      kind: 'Namespace',
      listKind: 'NamespaceList',
    }
    const spaces = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace' }
    const resource = widgets(memoryStorage(spaces), { ...spaces, names, namespaced: false, custom: false })
    await ask(resource, { verb: 'create', namespace: '', body: { metadata: { name: 'ns1' } } })
    assert.equal((await ask(resource, { verb: 'get', name: 'ns1' })).status, 200)
    await refuses(resource, { verb: 'get', name: 'other' }, 404, /could not find/)
  })

  it('warns about deprecated versions', async () => {
    const resource = fresh({ deprecationWarning: 'example.com/v1 Widget is deprecated' })
    const { warnings } = await ask(resource, { verb: 'list' })
    assert.deepEqual(warnings, ['example.com/v1 Widget is deprecated'])
  })
})

describe('get', () => {
  it('sends the stored bytes on one line', async () => {
    const resource = await filled('a')
    const answer = await ask(resource, { verb: 'get', name: 'a' })
    assert.equal(answer.contentType, 'application/json')
    const item = await resource.storage.get({} as never, { cluster: 'one', namespace: 'ns1', name: 'a' })
    assert.equal(await bodyOf(answer), `${item.bytes.toString()}\n`)
  })

  it('indents for people and for ?pretty', async () => {
    const resource = await filled('a')
    const curl = { headers: { 'user-agent': 'curl/8.1' } }
    const lines = async (asked: Partial<Asked>): Promise<number> =>
      (await bodyOf(await ask(resource, { verb: 'get', name: 'a', ...asked }))).split('\n').length
    assert.ok((await lines(curl)) > 5)
    assert.ok((await lines({ query: 'pretty=true' })) > 5)
    assert.equal(await lines({ ...curl, query: 'pretty=false' }), 2)
  })

  it('answers in YAML, as a Table and as PartialObjectMetadata', async () => {
    const resource = await filled('a')
    const get = (accept: string): Promise<Told> =>
      ask(resource, { verb: 'get', name: 'a', headers: { accept } })
    const yaml = await get('application/yaml')
    assert.equal(yaml.contentType, 'application/yaml')
    assert.match(await bodyOf(yaml), /^apiVersion: example.com\/v1\nkind: Widget\nmetadata:\n/)
    const rows = (await jsonOf(get(table))).rows as readonly { cells: unknown }[]
    assert.deepEqual(
      rows.map(row => row.cells),
      [['a', 'red']],
    )
    const object = await jsonOf(get(partial('PartialObjectMetadata')))
    assert.deepEqual(Object.keys(object), ['kind', 'apiVersion', 'metadata'])
    assert.equal(object.kind, 'PartialObjectMetadata')
  })

  it('prefers JSON where protobuf is asked first', async () => {
    const resource = await filled('a')
    const accept = 'application/vnd.kubernetes.protobuf,application/json'
    assert.equal(
      (await ask(resource, { verb: 'get', name: 'a', headers: { accept } })).contentType,
      'application/json',
    )
  })

  it('refuses invalid requests', async () => {
    const resource = await filled('a')
    const get = { verb: 'get', name: 'a' } as const
    await refuses(
      resource,
      { ...get, headers: { accept: 'application/xml' } },
      406,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
    await refuses(
      resource,
      { ...get, headers: { accept: partial('PartialObjectMetadataList') } },
      406,
      /^you requested PartialObjectMetadataList, but the requested object is not a list/,
    )
    await refuses(
      resource,
      { ...get, query: 'includeObject=Bogus', headers: { accept: table } },
      400,
      /includeObject/,
    )
    await refuses(resource, { ...get, query: 'resourceVersion=abc' }, 400, /invalid resource version/)
  })
})

describe('list', () => {
  it('has its kind, its items and a version', async () => {
    const list = await jsonOf(ask(await filled('b', 'a'), { verb: 'list' }))
    assert.equal(list.kind, 'WidgetList')
    assert.equal(list.apiVersion, 'example.com/v1')
    assert.deepEqual(
      (list.items as KubeObject[]).map(item => item.metadata.name),
      ['a', 'b'],
    )
    assert.match((list.metadata as { resourceVersion: string }).resourceVersion, /^\d+$/)
    assert.deepEqual((await jsonOf(ask(fresh(), { verb: 'list' }))).items, [])
  })

  it('pages', async () => {
    const resource = await filled('a', 'b', 'c')
    const first = await jsonOf(ask(resource, { verb: 'list', query: 'limit=2' }))
    const { continue: token, remainingItemCount } = first.metadata as {
      continue: string
      remainingItemCount: number
    }
    assert.equal(remainingItemCount, 1)
    const second = await jsonOf(ask(resource, { verb: 'list', query: `limit=2&continue=${token}` }))
    assert.equal((second.items as unknown[]).length, 1)
  })

  it('becomes a Table and a PartialObjectMetadataList', async () => {
    const resource = await filled('a')
    const rows = await jsonOf(ask(resource, { verb: 'list', headers: { accept: table } }))
    const columns = rows.columnDefinitions as readonly { name: string }[]
    assert.deepEqual(
      columns.map(column => column.name),
      ['Name', 'Color'],
    )
    const [row] = rows.rows as readonly { cells: unknown; object: KubeObject }[]
    assert.deepEqual(row?.cells, ['a', 'red'])
    assert.equal(row?.object.kind, 'PartialObjectMetadata')
    assert.ok((rows.metadata as { resourceVersion: string }).resourceVersion)
    const none = await jsonOf(
      ask(resource, { verb: 'list', query: 'includeObject=None', headers: { accept: table } }),
    )
    assert.deepEqual(none.rows, [{ cells: ['a', 'red'], object: null }])
    const accept = partial('PartialObjectMetadataList')
    const list = await jsonOf(ask(resource, { verb: 'list', headers: { accept } }))
    assert.equal(list.kind, 'PartialObjectMetadataList')
    const [item] = list.items as readonly KubeObject[]
    assert.deepEqual([item?.kind, item?.apiVersion], ['PartialObjectMetadata', 'meta.k8s.io/v1'])
    assert.equal(item?.spec, undefined)
    await refuses(
      resource,
      { verb: 'list', headers: { accept: partial('PartialObjectMetadata') } },
      406,
      /^you requested PartialObjectMetadata, but the requested object is a list/,
    )
  })

  it('sends its first bytes before the last batch is there', async () => {
    const resource = await filled('a', 'b')
    let release = (): void => undefined
    const gate = new Promise<void>(resolve => {
      release = resolve
    })
    const { storage } = resource
    const slow = {
      ...storage,
      async *list(ctx: Parameters<typeof storage.list>[0], query: Parameters<typeof storage.list>[1]) {
        const inner = storage.list(ctx, query)
        const first = await inner.next()
        if (first.done) return first.value
        const big = Object.assign([...first.value], { bytes: Buffer.alloc(300_000, 0x20) })
        yield big
        await gate
        return { resourceVersion: '1' }
      },
    }
    const { body } = await ask({ ...resource, storage: slow }, { verb: 'list' })
    assert.ok(!Buffer.isBuffer(body))
    const chunks = body[Symbol.asyncIterator]()
    assert.match(String((await chunks.next()).value), /^\{"kind":"WidgetList"/)
    const sizes = [(await chunks.next()).value, (await chunks.next()).value].map(chunk => chunk?.length)
    assert.deepEqual(sizes, [262_144, 300_000 - 262_144])
    release()
    assert.match(String((await chunks.next()).value), /^\],"metadata":/)
    assert.equal((await chunks.next()).done, true)
  })

  const bad: readonly [query: string, code: number, message: string | RegExp][] = [
    ['limit=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=a&timeoutSeconds=b&labelSelector=!', 400, 'strconv.ParseInt: parsing "b": invalid syntax'],
    ['labelSelector=!&resourceVersionMatch=x', 400, /^unable to parse requirement: /],
    ['fieldSelector=spec.size=1&resourceVersionMatch=Exact', 422, /^ListOptions.meta.k8s.io "" is invalid/],
    [
      'resourceVersion=abc',
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersionMatch=x&resourceVersion=1',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      422,
      /resourceVersionMatch "exact" is forbidden for resourceVersion "0"$/,
    ],
    ['sendInitialEvents=true', 422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list$/],
    ['continue=x', 400, /^invalid continue token: continue key is not valid/],
    ['continue=x&resourceVersion=y', 400, /^invalid continue token: continue key is not valid/],
    ['resourceVersion=99999', 504, /Too large resource version/],
    ['labelSelector=a in (b', 400, /^unable to parse requirement: /],
    ['fieldSelector=spec.size=1', 400, 'field label not supported: spec.size'],
    ['fieldSelector=x', 400, `invalid selector: 'x'; can't understand 'x'`],
  ]
  for (const [query, code, message] of bad) {
    it(`refuses ${query}`, async () => refuses(await filled('a'), { verb: 'list', query }, code, message))
  }

  it('selects by label and by selectable fields', async () => {
    const resource = await filled('a')
    await ask(resource, { verb: 'create', body: widget('b', { color: 'blue' }, { labels: { x: 'y' } }) })
    const names = async (query: string): Promise<unknown> =>
      ((await jsonOf(ask(resource, { verb: 'list', query }))).items as KubeObject[]).map(
        item => item.metadata.name,
      )
    assert.deepEqual(await names('fieldSelector=spec.color%3Dblue'), ['b'])
    assert.deepEqual(await names('labelSelector=x%3Dy'), ['b'])
    assert.deepEqual(await names('labelSelector=!x'), ['a'])
  })
})
