import assert from 'node:assert/strict'
import { fresh, refuses, specOf } from '../../test/support/asked.ts'
import { type Asked, ask, bodyOf, jsonOf, widget } from '../../test/support/widgets.ts'
import type { KubeObject } from '../meta/object.ts'

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
  })

  it('reports each problem once, and at most a hundred', async () => {
    const create = (members: string): Asked => ({
      verb: 'create',
      body: `{${typeMembers},"metadata":{"name":"a"},${members}}`,
    })
    const repeated = `"spec":{${'"a":1,'.repeat(40_000)}"a":2}`
    assert.deepEqual((await ask(fresh(), create(repeated))).warnings, ['duplicate field "spec.a"'])
    const of = (prefix: string): string =>
      Array.from({ length: 20_000 }, (_, i) => `"${prefix}${i}":0,`).join('')
    const many = create(
      `"metadata":{${of('u')}"name":"a"},"metadata":{${of('u')}${of('u')}"name":"a"},"spec":{}`,
    )
    assert.equal((await ask(fresh({ custom: false }), many)).warnings?.length, 100)
  })

  it('dry-runs', async () => {
    const resource = fresh()
    const answer = await ask(resource, { verb: 'create', query: 'dryRun=All', body: widget('a') })
    assert.equal(answer.status, 201)
    await refuses(resource, { verb: 'get', name: 'a' }, 404, 'widgets.example.com "a" not found')
  })

  it('runs mutating admission, then validating admission', async () => {
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
      'an invalid version',
      { headers: json, body: '{"apiVersion":"a/b/c","kind":"Widget"}' },
      400,
      'the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
    ],
    [
      'a kind that is not a string',
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
      'invalid labels',
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
      /fieldManager: Invalid value: "a\\a": invalid character U\+0007 \(at position 1\)$/,
    ],
    ['a name in the path', { name: 'a', body: widget('a') }, 405, /create is not supported/],
  ]
  for (const [name, asked, code, message] of bad) {
    it(`refuses ${name}`, () => refuses(fresh(), { verb: 'create', ...asked }, code, message))
  }
})
