import assert from 'node:assert/strict'
import type { Answered, Reply, Sent } from '../../support/client.ts'
import {
  better,
  betterInViews,
  configMapsIn,
  expect,
  jsonPatch,
  merge,
  post,
  put,
  type Target,
  widget,
  widgetsIn,
} from '../fixture.ts'

/** Errors and warnings for invalid bodies (rules.md 2.38 to 2.53 and 5.1 to 5.12). */
export function strictnessCases(target: () => Target): void {
  let path = ''
  let maps = ''
  before(async () => {
    const ns = await target().namespace()
    path = widgetsIn(ns)
    maps = configMapsIn(ns)
  })
  const create = (body: object | string, query = ''): Promise<Reply> =>
    target().client(`${path}${query}`, post(body))
  const made = async (spec: object = {}): Promise<Answered> =>
    expect(201, create(widget(target().fresh(), spec)))
  const at = (object: Answered, sent?: Sent, query = ''): Promise<Reply> =>
    target().client(`${path}/${object.metadata.name}${query}`, sent)
  const refused = async (code: number, answer: Promise<Reply>): Promise<string> =>
    (await expect(code, answer)).message ?? ''
  const strict = '?fieldValidation=Strict'
  const inStrictMode = 'Widget in version "v1" cannot be handled as a Widget: strict decoding error: '

  it('names duplicate fields in order, then unknown ones by their path (2.47, 2.52, 2.53)', async () => {
    const body =
      '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"odd","zone":1},' +
      '"spec":{"Size":1,"ports":[{"name":"a","odd":{"deep":1}}],"color":"red","color":"blue","free":{"any":1}}}'
    assert.equal(
      await refused(400, create(body, strict)),
      `${inStrictMode}duplicate field "spec.color", unknown field "metadata.zone", unknown field "spec.Size", unknown field "spec.ports[0].odd"`,
    )
    const warned = await create(body)
    assert.equal(
      warned.headers.warning,
      [
        'duplicate field \\"spec.color\\"',
        'unknown field \\"metadata.zone\\"',
        'unknown field \\"spec.Size\\"',
        'unknown field \\"spec.ports[0].odd\\"',
      ]
        .map(text => `299 - "${text}"`)
        .join(', '),
    )
    assert.deepEqual(warned.json().spec, {
      color: 'blue',
      free: { any: 1 },
      ports: [{ name: 'a' }],
      size: 1,
    })
  })

  it('names the lines of duplicate fields in YAML (2.51)', async () => {
    const body =
      'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: lines\nspec:\n  size: 1\n  size: 2\n'
    const yaml = post(body, { 'content-type': 'application/yaml' })
    assert.equal(
      await refused(400, target().client(path + strict, yaml)),
      `${inStrictMode}yaml: unmarshal errors:\\n  line 7: key "size" already set in map`.replace('\\n', '\n'),
    )
  })

  it('names members that operations of a patch do not have (2.49, 5.7)', async () => {
    const operations = [{ op: 'add', path: '/spec/color', value: 'red', foo: 1 }]
    const object = await made()
    assert.match(
      await refused(422, at(object, jsonPatch(operations), strict)),
      /strict decoding error: json patch unknown field "\[0\]\.foo"$/,
    )
    const warned = await at(object, jsonPatch(operations))
    assert.deepEqual(
      [warned.status, warned.headers.warning],
      [200, '299 - "json patch unknown field \\"[0].foo\\""'],
    )
  })

  it('reports the same for replacements (2.48)', async () => {
    const object = await made()
    const odd = { ...object, spec: { foo: 1 } }
    assert.equal(await refused(400, at(object, put(odd), strict)), `${inStrictMode}unknown field "spec.foo"`)
    const warned = await at(object, put(odd))
    assert.deepEqual([warned.status, warned.headers.warning], [200, '299 - "unknown field \\"spec.foo\\""'])
  })

  it('refuses other values of the option (2.33, 2.35, 2.36, 2.37)', async () => {
    const object = await made()
    const supported = 'Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'
    for (const [kind, answer] of [
      ['CreateOptions', create(widget('x'), '?fieldValidation=x')],
      ['UpdateOptions', at(object, put(object), '?fieldValidation=x')],
      ['PatchOptions', at(object, merge({}), '?fieldValidation=x')],
    ] as const)
      assert.equal(
        await refused(422, answer),
        `${kind}.meta.k8s.io "" is invalid: fieldValidation: ${supported}`,
      )
    const options = 'PatchOptions.meta.k8s.io "" is invalid: '
    assert.equal(
      await refused(422, at(object, merge({}), '?force=true')),
      `${options}force: Forbidden: may not be specified for non-apply patch`,
    )
    assert.equal(
      await refused(422, at(object, merge({}), `?fieldManager=${'x'.repeat(129)}`)),
      `${options}fieldManager: Too long: may not be more than 128 bytes`,
    )
    assert.match(
      await refused(422, at(object, merge({}), '?fieldManager=a%07')),
      /fieldManager: Invalid value: "a\\a": invalid character U\+0007 \(at position 1\)$|U\+0007 \(at position 1\)$/,
    )
  })

  it('requires apiVersion and kind (2.38, 2.39, 2.40)', async () => {
    const { kind: _, ...kindless } = widget('a')
    assert.equal(
      await refused(400, create(kindless)),
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '${JSON.stringify(kindless)}' (${JSON.stringify(kindless).slice(0, 30)} ...)`,
    )
    assert.equal(
      await refused(400, create({ ...widget('a'), apiVersion: 'example.com/v9' })),
      'the API version in the data (example.com/v9) does not match the expected API version (example.com/v1)',
    )
    assert.equal(
      await refused(400, create('{"kind":')),
      'the object provided is unrecognized (must be of type Widget): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"kind":)',
    )
  })

  betterInViews(target, 'fills in what a built-in kind need not be told (2.39)', async () => {
    const name = target().fresh()
    const filled = await expect(201, target().client(maps, post({ metadata: { name } })))
    assert.deepEqual([filled.apiVersion, filled.kind], ['v1', 'ConfigMap'])
  })

  it('refuses patches with an invalid result (5.8, 5.9)', async () => {
    const object = await made()
    assert.match(
      await refused(422, at(object, merge({ metadata: { labels: 1 } }))),
      /^ "" is invalid: patch: Invalid value: "\{.*": /,
    )
    const name = target().fresh()
    await expect(
      201,
      target().client(
        maps,
        post({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } }),
      ),
    )
    const map = (body: object) => target().client(`${maps}/${name}`, merge(body))
    assert.deepEqual((await expect(200, map({ data: { a: null, b: '2' } }))).data, { b: '2' })
    for (const body of ['{', '[1]', 'null']) await expect(400, at(object, { ...merge({}), body }))
    await expect(400, at(object, { ...jsonPatch([]), body: '{}' }))
  })

  better(target, 'takes no version that is no number (3.21)', async () => {
    const object = await made()
    const odd = { ...object, metadata: { ...object.metadata, resourceVersion: 'abc' } }
    assert.match(await refused(400, at(object, put(odd))), /resourceVersion: Invalid value: "abc"/)
  })
}
