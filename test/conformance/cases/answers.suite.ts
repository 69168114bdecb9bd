import assert from 'node:assert/strict'
import type { Answered, Reply, Sent } from '../../support/client.ts'
import {
  configMapsIn,
  expect,
  group,
  merge,
  partial,
  post,
  put,
  remove,
  type Target,
  table,
  widget,
  widgetsIn,
} from '../fixture.ts'
import { applyPatch, entriesOf } from '../owners.ts'

/** Errors of bodies and patches, and field managers, of custom and built-in kinds. */
export function answerCases(target: () => Target): void {
  let ns = ''
  before(async () => {
    ns = await target().namespace()
  })
  const ask = (path: string, sent?: Sent): Promise<Reply> => target().client(path, sent)
  describe('refusals', () => refusalCases(target, () => ns, ask))
  describe('patches', () => patchCases(target, () => ns, ask))
  describe('owners', () => ownerCases(target, () => ns, ask))
}

type Ask = (path: string, sent?: Sent) => Promise<Reply>

function refusalCases(target: () => Target, ns: () => string, ask: Ask): void {
  const refused = async (code: number, path: string, sent?: Sent): Promise<Answered> =>
    expect(code, ask(path, sent))

  it('name the resource, or the kind where the object is wrong (2.2, 2.4, 2.7)', async () => {
    const missing = await refused(404, `${widgetsIn(ns())}/missing`)
    assert.deepEqual(
      [missing.reason, missing.message, missing.details],
      ['NotFound', 'widgets.example.com "missing" not found', { name: 'missing', group, kind: 'widgets' }],
    )
    const builtIn = await refused(404, `${configMapsIn(ns())}/missing`)
    assert.deepEqual(
      [builtIn.message, builtIn.details],
      ['configmaps "missing" not found', { name: 'missing', kind: 'configmaps' }],
    )
    const invalid = await refused(422, widgetsIn(ns()), post(widget('x', { size: -1 })))
    assert.deepEqual(
      [invalid.reason, invalid.details?.group, invalid.details?.kind, invalid.details?.name],
      ['Invalid', group, 'Widget', 'x'],
    )
  })

  it('report a missing name where one is required (2.8)', async () => {
    const { code, message } = await refused(422, widgetsIn(ns()), post({ ...widget(''), metadata: {} }))
    assert.equal(code, 422)
    assert.match(
      message ?? '',
      /^Widget\.example\.com "" is invalid: metadata\.name: Required value: name or generateName is required$/,
    )
  })

  it('report errors of a malformed or empty body (2.38, 2.45)', async () => {
    for (const body of ['{', '{"kind":', '']) {
      const { reason, message } = await refused(400, configMapsIn(ns()), {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(reason, 'BadRequest')
      assert.match(
        message ?? '',
        /unrecognized|cannot be handled as a ConfigMap|EOF|Kind/,
        JSON.stringify(body),
      )
    }
  })

  it('name the expected version and kind (2.40, 2.41, 2.42)', async () => {
    const other = await refused(
      400,
      configMapsIn(ns()),
      post({ apiVersion: 'v9', kind: 'ConfigMap', metadata: { name: 'a' } }),
    )
    if (!target().isKcp)
      assert.equal(
        other.message,
        'the API version in the data (v9) does not match the expected API version (v1)',
      )
    const unknown = await refused(
      400,
      configMapsIn(ns()),
      post({ apiVersion: 'v1', kind: 'Other', metadata: { name: 'a' } }),
    )
    assert.match(unknown.message ?? '', /no kind "Other" is registered for version "v1" in scheme "/)
    const custom = await refused(422, widgetsIn(ns()), post({ ...widget('a'), kind: 'Other' }))
    assert.match(custom.message ?? '', /kind: Invalid value: "Other": must be Widget/)
  })

  it('are 400 for a resourceVersion that does not parse (4.12)', async () => {
    await expect(201, ask(widgetsIn(ns()), post(widget('versioned'))))
    for (const version of ['', '0', '1'])
      assert.equal(
        (await ask(`${widgetsIn(ns())}/versioned?resourceVersion=${version}`)).status,
        200,
        version,
      )
    if (!target().isKcp) await refused(400, `${widgetsIn(ns())}/versioned?resourceVersion=x`)
  })

  it('of deletions change nothing in a dry run (6.19)', async () => {
    const labels = { doomed: 'yes' }
    await expect(201, ask(widgetsIn(ns()), post(widget('tried', {}, { labels }))))
    const tried = await expect(200, ask(`${widgetsIn(ns())}?dryRun=All&labelSelector=doomed%3Dyes`, remove()))
    assert.deepEqual(
      tried.items?.map(({ metadata }) => metadata.name),
      ['tried'],
    )
    await expect(200, ask(`${widgetsIn(ns())}/tried`))
    await refused(400, `${widgetsIn(ns())}?labelSelector=%3D`, remove())
  })

  it('are the response for older versions of the API of definitions (7.9)', async () => {
    const path = '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions'
    assert.equal((await ask(path)).status, target().unknown)
  })
}

function patchCases(target: () => Target, ns: () => string, ask: Ask): void {
  const body = JSON.stringify({ metadata: { labels: { a: 'b' } } })
  const patch = (type: string): Sent => ({ method: 'PATCH', body, headers: { 'content-type': type } })
  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

  it('are of the types that a kind takes (5.1, 5.1a, 10.16)', async () => {
    const name = target().fresh()
    await expect(201, ask(widgetsIn(ns()), post(widget(name))))
    await expect(201, ask(configMapsIn(ns()), post(configMap(name))))
    const strategic = 'application/strategic-merge-patch+json'
    await expect(200, ask(`${configMapsIn(ns())}/${name}`, patch(strategic)))
    await expect(200, ask(`${widgetsIn(ns())}/${name}`, patch('application/merge-patch+json; charset=utf-8')))
    for (const type of [strategic, 'application/json', 'text/plain']) {
      const { reason, message } = await expect(415, ask(`${widgetsIn(ns())}/${name}`, patch(type)))
      assert.equal(reason, 'UnsupportedMediaType')
      assert.match(
        message ?? '',
        /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
      )
    }
  })

  it('create nothing, unless they apply (5.3)', async () => {
    const name = target().fresh()
    const path = `${configMapsIn(ns())}/${name}`
    assert.equal((await expect(404, ask(path, patch('application/merge-patch+json')))).reason, 'NotFound')
    await expect(201, ask(`${path}?fieldManager=m`, applyPatch(configMap(name))))
    await expect(200, ask(`${path}?fieldManager=m`, applyPatch(configMap(name))))
  })

  it('rename and move nothing (5.4)', async () => {
    const name = target().fresh()
    await expect(201, ask(widgetsIn(ns()), post(widget(name))))
    const renamed = await expect(
      400,
      ask(`${widgetsIn(ns())}/${name}`, merge({ metadata: { name: 'other' } })),
    )
    assert.equal(
      renamed.message,
      `the name of the object (other) does not match the name on the URL (${name})`,
    )
    const moved = await expect(
      400,
      ask(`${widgetsIn(ns())}/${name}`, merge({ metadata: { namespace: 'other' } })),
    )
    assert.equal(
      moved.message,
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  })
}

function ownerCases(target: () => Target, ns: () => string, ask: Ask): void {
  const path = () => widgetsIn(ns())
  const by = (sent: Sent, agent: string): Sent => ({
    ...sent,
    headers: { ...sent.headers, 'user-agent': agent },
  })
  const managersOf = (object: Answered): readonly string[] => entriesOf(object).map(({ manager }) => manager)

  it('are named by the query, else by the client’s name (5.19)', async () => {
    const create = async (agent: string, query = '') =>
      managersOf(
        await expect(201, ask(path() + query, by(post(widget(target().fresh(), { size: 2 })), agent))),
      )
    assert.deepEqual(await create('curl/8.1 (linux)'), ['curl'])
    assert.deepEqual(await create('curl/8.1', '?fieldManager=me'), ['me'])
    assert.deepEqual(await create('/8.1'), ['unknown'])
    assert.deepEqual(await create(`${'x'.repeat(200)}/1`), ['x'.repeat(128)])
  })

  it('of Apply entries come before those of Update entries, ordered by name (5.20)', async () => {
    const name = target().fresh()
    const at = `${path()}/${name}`
    await expect(201, ask(`${at}?fieldManager=zoe`, applyPatch(widget(name, { color: 'red' }))))
    await expect(200, ask(`${at}?fieldManager=bob`, merge({ spec: { note: 'n' } })))
    const object = await expect(200, ask(`${at}?fieldManager=amy`, applyPatch(widget(name, { size: 2 }))))
    const entries = entriesOf(object)
    assert.deepEqual(
      entries.map(({ operation }) => operation),
      ['Apply', 'Apply', 'Update'],
    )
    const sorted = [...entries].sort((a, b) =>
      a.operation !== b.operation
        ? 0
        : (a.time ?? '') < (b.time ?? '') || (a.time === b.time && a.manager < b.manager)
          ? -1
          : 1,
    )
    assert.deepEqual(entries, sorted)
  })

  it('own no name, no kind and no system fields (5.23, 3.40)', async () => {
    const sent = widget(target().fresh(), {}, { labels: { a: 'b' }, annotations: { c: 'd' } })
    const object = await expect(201, ask(path(), post(sent)))
    const [entry] = entriesOf(object)
    assert.deepEqual(entry?.fieldsV1['f:metadata'], {
      'f:annotations': { '.': {}, 'f:c': {} },
      'f:labels': { '.': {}, 'f:a': {} },
    })
    assert.deepEqual(Object.keys(entry?.fieldsV1 ?? {}).sort(), ['f:metadata', 'f:spec'])
    assert.match(object.metadata.creationTimestamp ?? '', /^\d{4}-/)
  })

  it('are returned in every format (5.29)', async () => {
    const name = target().fresh()
    await expect(201, ask(path(), post(widget(name, { size: 3 }))))
    const read = async (accept: string): Promise<string> =>
      (await ask(`${path()}/${name}`, { headers: { accept } })).text
    for (const accept of ['application/json', table, partial('PartialObjectMetadata')])
      assert.match(await read(accept), /"managedFields":\[\{/, accept)
  })

  it('write objects that lists show with their kind, where they are custom (4.2)', async () => {
    await expect(201, ask(path(), post(widget(target().fresh()))))
    const { kind, items } = (await expect(200, ask(path()))) as Answered
    assert.equal(kind, 'WidgetList')
    assert.ok(items?.every(item => item.kind === 'Widget' && item.apiVersion === `${group}/v1`))
  })

  it('find written objects by labels, as helm does (10.44)', async () => {
    const name = target().fresh()
    const labels = { owner: 'helm', status: 'deployed' }
    const release = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels },
      data: { release: 'e30=' },
    }
    const maps = configMapsIn(ns())
    const strict = '?fieldManager=helm&fieldValidation=Strict'
    await expect(201, ask(`${maps}/${name}${strict}`, applyPatch(release)))
    await expect(
      400,
      ask(`${maps}/${name}${strict}`, {
        ...applyPatch(JSON.stringify(release).replace('{', '{"kind":"ConfigMap",')),
      }),
    )
    const { items } = await expect(200, ask(`${maps}?labelSelector=owner%3Dhelm`))
    assert.deepEqual(
      items?.map(({ metadata }) => metadata.name),
      [name],
    )
  })

  it('have no Location after a creation (1.56)', async () => {
    const { status, headers } = await ask(path(), post(widget(target().fresh())))
    assert.deepEqual([status, headers.location], [201, undefined])
  })

  it('of a replacement own the fields that it changes (10.16)', async () => {
    const name = target().fresh()
    const object = await expect(
      201,
      ask(`${path()}?fieldManager=one`, post(widget(name, { size: 2, color: 'red' }))),
    )
    const next = { ...object, spec: { size: 3, color: 'red' } }
    const replaced = await expect(200, ask(`${path()}/${name}?fieldManager=two`, put(next)))
    const [one, two] = ['one', 'two'].map(who => entriesOf(replaced).find(({ manager }) => manager === who))
    assert.deepEqual(two?.fieldsV1, { 'f:spec': { 'f:size': {} } })
    assert.deepEqual(one?.fieldsV1, { 'f:spec': { '.': {}, 'f:color': {} } })
  })
}
