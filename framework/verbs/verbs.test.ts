import assert from 'node:assert/strict'
import fc from 'fast-check'
import { memoryStorage } from '../../test/support/memorystorage.ts'
import { type Asked, ask, bodyOf, jsonOf, type Told, widget, widgets } from '../../test/support/widgets.ts'
import type { ApiResource } from '../apis.ts'
import { forbidden, type Status, StatusError } from '../errors.ts'
import type { KubeObject } from '../object.ts'

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }
const fresh = (more: Partial<ApiResource> = {}): ApiResource => widgets(memoryStorage(kind), more)

async function filled(...names: readonly string[]): Promise<ApiResource> {
  const resource = fresh()
  for (const name of names) await ask(resource, { verb: 'create', body: widget(name, { color: 'red' }) })
  return resource
}

async function refusal(resource: ApiResource, asked: Asked): Promise<Status & { code: number }> {
  const error = await ask(resource, asked).then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof StatusError, String(error))
  return error.status
}

/** Expects a refusal with this code and message. */
async function refuses(
  resource: ApiResource,
  asked: Asked,
  code: number,
  message: string | RegExp,
): Promise<void> {
  const status = await refusal(resource, asked)
  assert.equal(status.code, code, status.message)
  if (typeof message === 'string') assert.equal(status.message, message)
  else assert.match(status.message ?? '', message)
}

const specOf = async (answer: Told | Promise<Told>): Promise<unknown> => (await jsonOf(answer)).spec
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const partial = (as: string): string => `application/json;as=${as};v=v1;g=meta.k8s.io`

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

  it('takes a namespace for itself', async () => {
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

  it('refuses what it cannot answer', async () => {
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
    ['limit=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
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
    ['continue=x&resourceVersion=5', 400, 'specifying resource version is not allowed when using continue'],
    ['continue=x', 400, /^invalid continue token: continue key is not valid/],
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

const type = { apiVersion: 'example.com/v1', kind: 'Widget' }
const typeMembers = JSON.stringify(type).slice(1, -1)

describe('create', () => {
  it('fills in apiVersion and kind of built-in kinds', async () => {
    const answer = await ask(fresh({ custom: false }), { verb: 'create', body: { metadata: { name: 'a' } } })
    const { apiVersion, kind } = await jsonOf(answer)
    assert.deepEqual({ apiVersion, kind }, type)
  })

  it('answers 201 with the stored object', async () => {
    const answer = await ask(fresh(), {
      verb: 'create',
      body: { ...type, metadata: { generateName: 'w-' }, spec: {} },
    })
    assert.equal(answer.status, 201)
    const object = await jsonOf(answer)
    assert.equal(object.kind, 'Widget')
    const metadata = object.metadata as KubeObject['metadata']
    assert.match(metadata.name ?? '', /^w-/)
    assert.equal(metadata.namespace, 'ns1')
    assert.ok(metadata.uid)
  })

  it('reads YAML', async () => {
    const headers = { 'content-type': 'application/yaml' }
    const body = 'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  on: yes\n'
    assert.deepEqual(await specOf(ask(fresh(), { verb: 'create', headers, body })), { true: true })
  })

  it('keeps integers beyond 2^53', async () => {
    const body = `{${typeMembers},"metadata":{"name":"a"},"spec":{"n":9007199254740993}}`
    assert.match(await bodyOf(await ask(fresh(), { verb: 'create', body })), /"n":9007199254740993/)
  })

  it('ignores, warns about or refuses unknown and repeated fields', async () => {
    const body = `{${typeMembers},"metadata":{"name":"a","foo":1},"spec":{"a":1,"a":2,"unknown":1}}`
    const problems = [
      'duplicate field "spec.a"',
      'unknown field "metadata.foo"',
      'unknown field "spec.unknown"',
    ]
    const create = (query: string): Asked => ({ verb: 'create', body, query })
    const warned = await ask(fresh(), create(''))
    assert.deepEqual(warned.warnings, problems)
    assert.deepEqual(await specOf(warned), { a: 2 })
    assert.deepEqual((await ask(fresh(), create('fieldValidation=Ignore'))).warnings, [])
    await refuses(
      fresh(),
      create('fieldValidation=Strict'),
      400,
      `Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${problems.join(', ')}`,
    )
    const headers = { 'content-type': 'application/yaml' }
    const yaml = {
      ...create('fieldValidation=Strict'),
      headers,
      body: 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  a: 1\n  a: 2\n',
    }
    await refuses(fresh(), yaml, 400, /strict decoding error: line 6: key "a" already set in map$/)
  })

  it('dry-runs', async () => {
    const resource = fresh()
    const answer = await ask(resource, { verb: 'create', query: 'dryRun=All', body: widget('a') })
    assert.equal(answer.status, 201)
    await refuses(resource, { verb: 'get', name: 'a' }, 404, 'widgets.example.com "a" not found')
  })

  it('runs admission: first what changes, then what looks', async () => {
    const seen: string[] = []
    const admission = [
      {
        validate: async (_: unknown, { object }: { object?: KubeObject }) =>
          void seen.push(`validated ${JSON.stringify(object?.spec)}`),
      },
      {
        mutate: async (_: unknown, { object }: { object: KubeObject }) => ({
          ...object,
          spec: { color: 'green' },
        }),
      },
    ]
    const answer = await ask(fresh(), { verb: 'create', body: widget('a'), admission })
    assert.deepEqual(await specOf(answer), { color: 'green' })
    assert.deepEqual(seen, ['validated {"color":"green"}'])
  })

  const json = { 'content-type': 'application/json' }
  const bad: readonly [name: string, asked: Partial<Asked>, code: number, message: string | RegExp][] = [
    [
      'an unknown media type',
      { headers: { 'content-type': 'text/plain' } },
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'broken JSON',
      { headers: json, body: '{"a"' },
      400,
      /^the object provided is unrecognized \(must be of type Widget\): couldn't get version\/kind; json parse error: .* \(\{"a"\)$/,
    ],
    ['an empty body', { body: '' }, 400, /end of JSON input \(<empty>\)$/],
    ['a list', { body: '[]' }, 400, /cannot be handled as a Widget: json: cannot unmarshal array/],
    ['deep JSON', { body: `${'['.repeat(3000)}${']'.repeat(3000)}` }, 400, /exceeded max depth/],
    [
      'deep YAML',
      { headers: { 'content-type': 'application/yaml' }, body: '{a: '.repeat(3000) },
      400,
      /exceeded max depth/,
    ],
    [
      'broken YAML',
      { headers: { 'content-type': 'application/yaml' }, body: 'a: [' },
      400,
      /error converting YAML/,
    ],
    [
      'another version',
      { body: { apiVersion: 'example.com/v2', kind: 'Widget' } },
      400,
      'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)',
    ],
    [
      'another kind',
      { body: { ...type, kind: 'Gadget', metadata: { name: 'a' } } },
      422,
      'Gadget.example.com "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
    ],
    [
      'a version that is none',
      { headers: json, body: '{"apiVersion":"a/b/c","kind":"Widget"}' },
      400,
      'the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
    ],
    [
      'a kind that is no text',
      { headers: json, body: '{"apiVersion":"example.com/v1","kind":5}' },
      400,
      /^the object provided is unrecognized .*: couldn't get version\/kind; json parse error: json: cannot unmarshal number into Go struct field \.kind of type string \(/,
    ],
    [
      'a body without kind',
      { headers: json, body: '{"metadata":{"name":"a"}}' },
      400,
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"a"}}' ({"metadata":{"name":"a"}})`,
    ],
    [
      'a body without apiVersion',
      { body: { kind: 'Widget', metadata: { name: 'a' } } },
      400,
      'the API version in the data () does not match the expected API version (example.com/v1)',
    ],
    [
      'another namespace',
      { body: widget('a', {}, { namespace: 'other' }) },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'labels that are none',
      { body: widget('a', {}, { labels: { a: 1 } }) },
      400,
      /cannot unmarshal number into Go struct/,
    ],
    ['a kind that is no text', { body: { kind: 1 } }, 400, /cannot unmarshal number/],
    [
      'an unknown dry run',
      { query: 'dryRun=x', body: widget('a') },
      422,
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
    ],
    [
      'an unknown validation',
      { query: 'fieldValidation=x', body: widget('a') },
      422,
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      'a long manager',
      { query: `fieldManager=${'x'.repeat(129)}`, body: widget('a') },
      422,
      /fieldManager: Too long/,
    ],
    [
      'a manager that cannot be printed',
      { query: 'fieldManager=a%07', body: widget('a') },
      422,
      /fieldManager: Invalid value: "a\\u0007": invalid character U\+0007 \(at position 1\)$/,
    ],
    ['a name in the path', { name: 'a', body: widget('a') }, 405, /create is not supported/],
  ]
  for (const [name, asked, code, message] of bad) {
    it(`refuses ${name}`, () => refuses(fresh(), { verb: 'create', ...asked }, code, message))
  }
})

describe('update', () => {
  it('replaces, and needs the version', async () => {
    const resource = await filled('a')
    const put = { verb: 'update', name: 'a' } as const
    await refuses(
      resource,
      { ...put, body: widget('a') },
      422,
      'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    )
    const current = (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))) as unknown as KubeObject
    const changed = { ...current, spec: { color: 'blue' } }
    assert.deepEqual(await specOf(ask(resource, { ...put, body: changed })), { color: 'blue' })
    await refuses(resource, { ...put, body: changed }, 409, /the object has been modified; please apply/)
  })

  it('lets the last write win where the kind allows it, and creates where it may', async () => {
    const resource = fresh({ unconditionalUpdate: true, createOnUpdate: true })
    const put = (body: KubeObject): Promise<Told> => ask(resource, { verb: 'update', name: 'a', body })
    assert.equal((await put(widget('a'))).status, 201)
    assert.equal((await put(widget('a', { color: 'blue' }))).status, 200)
    assert.equal((await put(widget('a', { color: 'red' }, { resourceVersion: '0' }))).status, 200)
    const other = { verb: 'update', name: 'b', body: widget('b', {}, { uid: 'x' }) } as const
    await refuses(resource, other, 409, /Precondition failed: UID in precondition: x, UID in object meta: $/)
  })

  it('refuses other names and missing objects', async () => {
    const resource = await filled('a')
    const put = { verb: 'update', name: 'a' } as const
    await refuses(
      resource,
      { ...put, body: widget('b') },
      400,
      'the name of the object (b) does not match the name on the URL (a)',
    )
    await refuses(
      resource,
      { ...put, body: { ...type, spec: {} } },
      400,
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    )
    await refuses(
      resource,
      { ...put, name: 'x', body: widget('x') },
      404,
      'widgets.example.com "x" not found',
    )
    await refuses(
      resource,
      { ...put, body: widget('a', {}, { resourceVersion: 'x' }) },
      400,
      /invalid resource version/,
    )
  })

  it('shows admission the stored object', async () => {
    const resource = fresh({ unconditionalUpdate: true })
    await ask(resource, { verb: 'create', body: widget('a', { color: 'red' }) })
    const admission = [
      {
        validate: async (_: unknown, { old }: { old?: KubeObject }) => {
          throw forbidden(undefined, JSON.stringify(old?.spec))
        },
      },
    ]
    const put = { verb: 'update', name: 'a', body: widget('a'), admission } as const
    await refuses(resource, put, 403, 'forbidden: {"color":"red"}')
  })
})

describe('patch', () => {
  const merge = { 'content-type': 'application/merge-patch+json' }
  const json = { 'content-type': 'application/json-patch+json; charset=utf-8' }
  const patch = (asked: Partial<Asked>): Asked => ({ verb: 'patch', name: 'a', headers: merge, ...asked })

  it('merges', async () => {
    const resource = await filled('a')
    const spec = await specOf(ask(resource, patch({ body: { spec: { color: null, size: 1 } } })))
    assert.deepEqual(spec, { size: 1 })
  })

  it('applies JSON patches', async () => {
    const resource = await filled('a')
    const body = [
      { op: 'test', path: '/spec/color', value: 'red' },
      { op: 'replace', path: '/spec/color', value: 'blue' },
    ]
    assert.deepEqual(await specOf(ask(resource, patch({ headers: json, body }))), { color: 'blue' })
    const failed = await refusal(resource, patch({ headers: json, body }))
    assert.deepEqual(
      [failed.code, failed.reason, failed.message],
      [422, 'Invalid', 'the server rejected our request due to an error in our request'],
    )
  })

  it('never conflicts without a version, and locks with one', async () => {
    const resource = await filled('a')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ask(resource, patch({ body: { spec: { [`k${i}`]: i } } }))),
    )
    assert.ok(answers.every(answer => answer.status === 200))
    assert.equal(Object.keys((await specOf(ask(resource, { verb: 'get', name: 'a' }))) as object).length, 21)
    const body = { metadata: { resourceVersion: '1' }, spec: {} }
    await refuses(resource, patch({ body }), 409, /the object has been modified/)
  })

  it('warns about unknown fields and writes nothing, or refuses', async () => {
    const resource = await filled('a')
    const version = async (): Promise<unknown> =>
      (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))).metadata
    const before = await version()
    const body = { spec: { unknown: 1 } }
    assert.deepEqual((await ask(resource, patch({ body }))).warnings, ['unknown field "spec.unknown"'])
    assert.deepEqual(await version(), before)
    await refuses(
      resource,
      patch({ body, query: 'fieldValidation=Strict' }),
      422,
      /^ "" is invalid: patch: Invalid value: ".*": strict decoding error: unknown field "spec.unknown"$/,
    )
  })

  const bad: readonly [name: string, asked: Partial<Asked>, code: number, message: string | RegExp][] = [
    [
      'strategic merge patches',
      { headers: { 'content-type': 'application/strategic-merge-patch+json' } },
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    ],
    [
      'another name',
      { body: { metadata: { name: 'b' } } },
      400,
      /^the name of the object \(b\) does not match/,
    ],
    [
      'another namespace',
      { body: { metadata: { namespace: 'b' } } },
      400,
      /^the namespace of the provided object/,
    ],
    ['wrong types', { body: { metadata: { labels: 1 } } }, 422, /^ "" is invalid: patch: Invalid value: /],
    ...[null, '', '0'].map((resourceVersion): [string, Partial<Asked>, number, string] => [
      `the version ${JSON.stringify(resourceVersion)}`,
      { body: { metadata: { resourceVersion } } },
      422,
      'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ]),
    [
      'another kind and version',
      { body: { apiVersion: 'other.dev/v2', kind: 'Gadget' } },
      422,
      'Gadget.other.dev "a" is invalid: [kind: Invalid value: "Gadget": must be Widget, apiVersion: Invalid value: "other.dev/v2": must be example.com/v1]',
    ],
    [
      'a version that is none',
      { body: { apiVersion: 'a/b/c' } },
      422,
      /^ "" is invalid: patch: Invalid value: ".*": unexpected GroupVersion string: a\/b\/c$/,
    ],
    [
      'a kind that is no text',
      { body: { kind: 5 } },
      422,
      /^ "" is invalid: patch: .*: couldn't get version\/kind; json parse error: json: cannot unmarshal number into /,
    ],
    ['null', { body: 'null' }, 400, 'Invalid JSON Patch'],
    [
      'the end of the kind',
      { body: { kind: null } },
      422,
      /^ "" is invalid: patch: Invalid value: ".*": Object 'Kind' is missing in '{.*}'$/,
    ],
    ['missing objects', { name: 'x', body: {} }, 404, 'widgets.example.com "x" not found'],
    ['broken JSON', { body: '{' }, 400, /json parse error/],
    [
      'force',
      { body: {}, query: 'force=true' },
      422,
      /force: Forbidden: may not be specified for non-apply patch$/,
    ],
    [
      'deep results',
      {
        headers: json,
        body: Array.from({ length: 300 }, (_, i) => ({
          op: 'add',
          path: `/spec${'/a'.repeat(i + 1)}`,
          value: {},
        })),
      },
      422,
      /exceeded max depth/,
    ],
  ]
  for (const [name, asked, code, message] of bad) {
    it(`refuses ${name}`, async () => refuses(await filled('a'), patch(asked), code, message))
  }
})

describe('delete', () => {
  it('answers with a Status and the uid', async () => {
    const resource = await filled('a')
    const { uid } = (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))).metadata as { uid: string }
    const answer = await ask(resource, { verb: 'delete', name: 'a', headers: { accept: table } })
    assert.equal(answer.status, 200)
    assert.deepEqual(await jsonOf(answer), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', group: 'example.com', kind: 'widgets', uid },
    })
    await refuses(resource, { verb: 'delete', name: 'a' }, 404, 'widgets.example.com "a" not found')
  })

  it('answers with the object where the kind says so, or while finalizers hold it', async () => {
    const resource = fresh({ deleteReturnsObject: true })
    await ask(resource, { verb: 'create', body: widget('a') })
    assert.equal((await jsonOf(ask(resource, { verb: 'delete', name: 'a' }))).kind, 'Widget')
    const held = fresh()
    await ask(held, { verb: 'create', body: widget('a', {}, { finalizers: ['example.com/f'] }) })
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', orphanDependents: false }
    const answer = await ask(held, { verb: 'delete', name: 'a', body })
    assert.equal(answer.status, 202)
    assert.ok(((await jsonOf(answer)).metadata as KubeObject['metadata']).deletionTimestamp)
    assert.equal((await ask(held, { verb: 'delete', name: 'a' })).status, 200)
  })

  it('takes preconditions from the body', async () => {
    const body = { preconditions: { uid: 'x' } }
    const status = await refusal(await filled('a'), { verb: 'delete', name: 'a', body })
    assert.equal(status.code, 409)
    assert.equal(status.details?.kind, 'Widget')
  })

  it('shows admission the object', async () => {
    const admission = [
      {
        validate: async (_: unknown, { operation, old }: { operation: string; old?: KubeObject }) => {
          throw forbidden(undefined, `${operation} ${old?.metadata.name}`)
        },
      },
    ]
    await refuses(await filled('a'), { verb: 'delete', name: 'a', admission }, 403, 'forbidden: DELETE a')
    await refuses(await filled('a'), { verb: 'deletecollection', admission }, 403, 'forbidden: DELETE a')
  })

  const invalid = (text: string): string => `DeleteOptions.meta.k8s.io "" is invalid: ${text}`
  const bad: readonly [asked: Partial<Asked>, code: number, message: string | RegExp][] = [
    [{ body: '{' }, 400, /json parse error/],
    [{ body: { kind: 'Widget' } }, 400, /cannot be converted to DeleteOptions/],
    [{ body: { preconditions: 1 } }, 400, /DeleteOptions.preconditions$/],
    [{ body: { dryRun: 'All' } }, 400, /DeleteOptions.dryRun$/],
    [{ body: {}, headers: { 'content-type': 'text/plain' } }, 415, /unknown format/],
    [
      { body: { propagationPolicy: 'x' } },
      422,
      invalid(
        'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
      ),
    ],
    [
      { query: 'propagationPolicy=Orphan&orphanDependents=true' },
      422,
      invalid(
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ),
    ],
    [{ query: 'dryRun=x' }, 422, invalid('dryRun: Unsupported value: ["x"]: supported values: "All"')],
    [{ query: 'gracePeriodSeconds=x' }, 400, /^strconv.ParseInt/],
  ]
  for (const [asked, code, message] of bad) {
    it(`refuses ${JSON.stringify(asked)}`, async () =>
      refuses(await filled('a'), { verb: 'delete', name: 'a', ...asked }, code, message))
  }
})

describe('deletecollection', () => {
  it('deletes what it lists, and answers with that', async () => {
    const resource = await filled('a', 'b')
    await ask(resource, { verb: 'create', body: widget('c', {}, { labels: { x: 'y' } }) })
    const names = async (asked: Asked): Promise<unknown> =>
      ((await jsonOf(ask(resource, asked))).items as KubeObject[]).map(item => item.metadata.name)
    assert.deepEqual(await names({ verb: 'deletecollection', query: 'labelSelector=x%3Dy&dryRun=All' }), [
      'c',
    ])
    assert.deepEqual(await names({ verb: 'deletecollection', query: 'labelSelector=x%3Dy' }), ['c'])
    assert.deepEqual(await names({ verb: 'list' }), ['a', 'b'])
    assert.deepEqual(await names({ verb: 'deletecollection' }), ['a', 'b'])
    assert.deepEqual(await names({ verb: 'list' }), [])
  })

  it('leaves alone what has come back under the same name', async () => {
    const resource = await filled('a')
    const { storage } = resource
    const recreating: ApiResource['storage'] = {
      ...storage,
      async delete(ctx, key, check, options) {
        await storage.delete(ctx, key, () => undefined, { dryRun: false })
        await storage.create(ctx, key, widget('a', {}, { namespace: 'ns1' }), {
          dryRun: false,
          fieldManager: '',
        })
        return storage.delete(ctx, key, check, options)
      },
    }
    await ask({ ...resource, storage: recreating }, { verb: 'deletecollection' })
    assert.equal((await ask(resource, { verb: 'get', name: 'a' })).status, 200)
  })
})

describe('bad input', () => {
  it('never fails with anything but a Status', async () => {
    const resource = await filled('a')
    const value = fc.oneof(
      fc.constantFrom(
        '',
        '0',
        '1',
        'true',
        'All',
        'Exact',
        'NotOlderThan',
        'a=b',
        'a in (',
        'Strict',
        '\u0000',
      ),
      fc.string({ unit: 'binary' }),
    )
    const name = fc.constantFrom(
      ...[
        'limit',
        'continue',
        'resourceVersion',
        'resourceVersionMatch',
        'labelSelector',
        'fieldSelector',
        'dryRun',
      ],
      ...[
        'fieldManager',
        'fieldValidation',
        'sendInitialEvents',
        'pretty',
        'propagationPolicy',
        'includeObject',
      ],
    )
    const query = fc
      .array(fc.tuple(name, value), { maxLength: 3 })
      .map(pairs => new URLSearchParams(pairs).toString())
    const fragment = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"',
        '\\',
        'null',
        '1e999',
        '-0',
        '9007199254740993',
        '"metadata":',
        '"a"',
      ],
      ...[
        '{"op":"add","path":"/spec/x","value":1}',
        '{"metadata":{"name":"a"}}',
        '\n',
        '- ',
        'a: ',
        '&a ',
        '*a',
        '<<: ',
      ],
    )
    const body = fc.oneof(
      fc.json(),
      fc.array(fragment, { maxLength: 8 }).map(parts => parts.join('')),
      fc.jsonValue().map(spec => JSON.stringify({ metadata: { name: 'a' }, spec })),
      fc.jsonValue().map(metadata => JSON.stringify({ metadata })),
    )
    const type = fc.constantFrom(
      ...[
        '',
        'application/json',
        'application/yaml',
        'application/merge-patch+json',
        'application/json-patch+json',
        'x',
      ],
    )
    const accept = fc.constantFrom(
      '',
      '*/*',
      'application/yaml',
      table,
      partial('PartialObjectMetadata'),
      ';;;=,q=x',
    )
    const verb = fc.constantFrom('get', 'list', 'create', 'update', 'patch', 'delete', 'deletecollection')
    await fc.assert(
      fc.asyncProperty(
        fc.record({ verb, query, body, type, accept, name: fc.constantFrom('a', '', 'x') }),
        async ({ verb, query, body, type, accept, name }) => {
          const headers = { 'content-type': type, accept }
          const asked = { verb, query, body, headers, name, namespace: 'ns1' } as Asked
          try {
            await bodyOf(await ask(resource, asked))
          } catch (error) {
            assert.ok(error instanceof StatusError, String((error as Error).stack))
          }
        },
      ),
      { numRuns: 1500 },
    )
  })
})
