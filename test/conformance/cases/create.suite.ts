import assert from 'node:assert/strict'
import type { Reply } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { expect, group, merge, namespaces, post, remove, type Target, widget, widgetsIn } from '../fixture.ts'

type Spec = Readonly<Record<string, unknown>>

/** Cases 11 to 22 of rules.md: create and metadata. managedFields are tested with server-side apply. */
export function createCases(target: () => Target): void {
  let ns = ''
  let path = ''
  before(async () => {
    ns = await target().namespace()
    path = widgetsIn(ns)
  })
  const create = (body: object | string, query = ''): Promise<Reply> =>
    target().client(`${path}${query}`, post(body))
  const specOf = async (answer: Promise<Reply>): Promise<Spec> => (await expect(201, answer)).spec as Spec

  it('11: makes a name, defaults, and metadata (3.1, 3.4, 3.8)', async () => {
    const object = await expect(201, create({ ...widget(''), metadata: { generateName: 'w-' } }))
    assert.match(object.metadata.name ?? '', /^w-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.deepEqual(object.spec, { size: 1 })
    assert.equal(object.metadata.generation, 1)
    assert.match(
      object.metadata.uid ?? '',
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    assert.match(object.metadata.creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(object.metadata.namespace, ns)
  })

  it('12: refuses a name that is taken (2.7g)', async () => {
    await expect(201, create(widget('taken')))
    const { reason, message, details } = await expect(409, create(widget('taken')))
    assert.equal(reason, 'AlreadyExists')
    assert.equal(message, 'widgets.example.com "taken" already exists')
    assert.deepEqual(details, { name: 'taken', group, kind: 'widgets' })
  })

  it('13: refuses a resourceVersion (3.3)', async () => {
    const reply = await create(widget(target().fresh(), {}, { resourceVersion: '5' }))
    assert.ok(reply.status >= 400)
    assert.match(reply.json().message ?? '', /resourceVersion should not be set on objects to be created/)
  })

  it('14: refuses invalid names (2.24)', async () => {
    const { reason, message, details } = await expect(422, create(widget('A_b')))
    assert.deepEqual(
      [reason, details?.kind, details?.causes?.[0]?.field],
      ['Invalid', 'Widget', 'metadata.name'],
    )
    assert.match(
      message ?? '',
      /a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '\.', and must start and end with an alphanumeric character \(e\.g\. 'example\.com', regex used for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\(\\\.\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\)\*'\)/,
    )
  })

  it('15: reports every field that its schema refuses (2.17, 7.23)', async () => {
    const { message, details } = await expect(422, create(widget('x', { size: 11, color: 'mauve' })))
    assert.match(message ?? '', /^Widget\.example\.com "x" is invalid: \[.*, .*\]$/)
    const causes = details?.causes?.map(cause => [cause.reason, cause.field, cause.message]).sort()
    assert.deepEqual(causes, [
      [
        'FieldValueInvalid',
        'spec.size',
        'Invalid value: 11: spec.size in body should be less than or equal to 10',
      ],
      ['FieldValueNotSupported', 'spec.color', 'Unsupported value: "mauve": supported values: "red", "blue"'],
    ])
  })

  it('16: warns about unknown fields, ignores or refuses them (2.46–2.48)', async () => {
    const body = () => widget(target().fresh(), { foo: 1 })
    const warned = await create(body())
    assert.equal(warned.status, 201)
    assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.foo\\""')
    assert.deepEqual(warned.json().spec, { size: 1 })
    const ignored = await create(body(), '?fieldValidation=Ignore')
    assert.deepEqual([ignored.status, ignored.headers.warning], [201, undefined])
    const { message } = await expect(400, create(body(), '?fieldValidation=Strict'))
    assert.equal(
      message,
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"',
    )
  })

  it('17: refuses a repeated field in strict mode (2.47)', async () => {
    const body = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"twice"},"spec":{"size":1,"size":2}}`
    const { message } = await expect(400, create(body, '?fieldValidation=Strict'))
    assert.match(message ?? '', /duplicate field "spec\.size"/)
  })

  it('18: creates nothing in missing and terminating namespaces (2.54, 2.55)', async () => {
    const { client } = target()
    const missing = await expect(404, client(widgetsIn('ghost'), post(widget('a'))))
    assert.equal(missing.message, 'namespaces "ghost" not found')
    const going = await target().namespace()
    const holder = widget('holder', {}, { finalizers: ['example.com/hold'] })
    await expect(201, client(widgetsIn(going), post(holder)))
    assert.ok((await client(`${namespaces}/${going}`, remove())).status <= 202)
    const late = () => client(`${widgetsIn(going)}?dryRun=All`, post(widget('late')))
    const { message, details } = (await eventually(late, ({ status }) => status === 403)).json()
    assert.equal(
      message,
      `widgets.example.com "late" is forbidden: unable to create new content in namespace ${going} because it is being terminated`,
    )
    const cause = {
      reason: 'NamespaceTerminating',
      message: `namespace ${going} is being terminated`,
      field: 'metadata.namespace',
    }
    assert.deepEqual(details?.causes, [cause])
    await expect(200, client(`${widgetsIn(going)}/holder`, merge({ metadata: { finalizers: [] } })))
  })

  it('19: refuses another namespace in the body (2.44)', async () => {
    const { message } = await expect(400, create(widget('a', {}, { namespace: 'other' })))
    assert.equal(
      message,
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  })

  it('20: keeps, drops or replaces nulls (7.20)', async () => {
    const spec = await specOf(create(widget(target().fresh(), { note: null, color: null, size: null })))
    assert.deepEqual(spec, { note: null, size: 1 })
  })

  it('21: dry-runs (3.37, 3.38, 2.34)', async () => {
    const { client } = target()
    const list = await expect(200, client(path))
    const events = await client.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
    const object = await expect(201, create(widget('dry'), '?dryRun=All'))
    assert.ok(object.metadata.uid)
    assert.equal(object.metadata.resourceVersion, undefined)
    await expect(404, client(`${path}/dry`))
    await expect(201, create(widget('wet')))
    assert.equal((await events.next())?.object.metadata.name, 'wet')
    events.leave()
    const { message } = await expect(422, create(widget('dry'), '?dryRun=x'))
    assert.match(message ?? '', /dryRun: Unsupported value: \["x"\]: supported values: "All"/)
  })

  it('22: ignores the status (3.31)', async () => {
    const name = target().fresh()
    const object = await expect(201, create({ ...widget(name), status: { phase: 'X' } }))
    assert.equal((object.status as { phase?: string } | undefined)?.phase, undefined)
  })
}
