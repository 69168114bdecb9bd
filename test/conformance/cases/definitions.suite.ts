import assert from 'node:assert/strict'
import type { Sent } from '../../support/client.ts'
import {
  better,
  expect,
  fixture,
  fixtureWithColors,
  group,
  merge,
  post,
  put,
  remove,
  type Target,
  table,
  widget,
  widgetsIn,
} from '../fixture.ts'

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
/** The Accept headers of client-go since 1.30, and before. */
const recent = `${aggregated('v2')},${aggregated('v2beta1')},application/json`
const old = `${aggregated('v2beta1')},application/json`

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly resources: readonly {
        readonly resource: string
        readonly singularResource: string
        readonly shortNames?: readonly string[]
        readonly subresources?: readonly { readonly subresource: string }[]
      }[]
    }[]
  }[]
}

interface Operation {
  readonly 'x-kubernetes-action'?: string
  readonly 'x-kubernetes-group-version-kind'?: object
  readonly requestBody?: { readonly content: object }
  readonly parameters?: readonly { readonly name?: string }[]
}

interface OpenApi {
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  readonly paths: Readonly<
    Record<string, { readonly parameters?: Operation['parameters']; readonly patch?: Operation }>
  >
}

/** The parts of case 59 of rules.md that apply wherever the fixture is served. */
export function publishedCases(target: () => Target): void {
  const ask = (path: string, sent?: Sent) => target().client(path, sent)

  it('59: is listed by legacy discovery (8.3, 8.6)', async () => {
    const { resources } = (await ask(`/apis/${group}/v1`)).json<{ resources: { name: string }[] }>()
    const main = resources.find(each => each.name === 'widgets') as Record<string, unknown>
    assert.equal(main.singularName, 'widget')
    assert.equal(main.kind, 'Widget')
    assert.deepEqual([main.shortNames, main.categories], [['wd'], ['all']])
    const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
    assert.deepEqual([...(main.verbs as string[])].sort(), verbs.sort())
    const status = resources.find(each => each.name === 'widgets/status') as Record<string, unknown>
    assert.deepEqual([...(status.verbs as string[])].sort(), ['get', 'patch', 'update'])
  })

  it('59: is usable through discovery for old and recent clients (8.8–8.11)', async () => {
    for (const accept of [recent, old]) {
      const reply = await ask('/apis', { headers: { accept } })
      assert.equal(reply.status, 200)
      if (/APIGroupDiscoveryList/.test(reply.headers['content-type'] ?? '')) {
        const found = reply.json<Discovery>().items.find(item => item.metadata.name === group)
        assert.deepEqual(
          found?.versions.map(each => each.version),
          ['v1', 'v1beta1'],
        )
        const resource = found?.versions[0]?.resources.find(each => each.resource === 'widgets')
        assert.deepEqual([resource?.singularResource, resource?.shortNames], ['widget', ['wd']])
        assert.ok(resource?.subresources?.some(each => each.subresource === 'status'))
      } else {
        const groups = reply.json<{ groups: { name: string }[] }>().groups
        assert.ok(groups.some(each => each.name === group))
      }
    }
  })

  it('59: is described by OpenAPI v3 (8.19–8.24)', async () => {
    const { paths } = (await ask('/openapi/v3')).json<{
      paths: Record<string, { serverRelativeURL: string }>
    }>()
    assert.match(
      paths[`apis/${group}/v1`]?.serverRelativeURL ?? '',
      /openapi\/v3\/apis\/example\.com\/v1\?hash=/,
    )
    const document = (await ask(`/openapi/v3/apis/${group}/v1`)).json<OpenApi>()
    const model = document.components.schemas['com.example.v1.Widget']
    assert.deepEqual(model?.['x-kubernetes-group-version-kind'], [{ group, kind: 'Widget', version: 'v1' }])
    const item = document.paths[`/apis/${group}/v1/namespaces/{namespace}/widgets/{name}`]
    const patch = item?.patch
    assert.ok(patch?.parameters?.some(each => each.name === 'fieldValidation'))
    assert.equal(patch?.['x-kubernetes-action'], 'patch')
    assert.deepEqual(patch?.['x-kubernetes-group-version-kind'], { group, kind: 'Widget', version: 'v1' })
    const types = Object.keys(patch?.requestBody?.content ?? {})
    assert.ok(types.includes('application/apply-patch+yaml'))
    assert.ok(!types.includes('application/strategic-merge-patch+json'))
  })

  it('59: responds in the version of the request (7.41)', async () => {
    const ns = await target().namespace()
    await expect(201, ask(widgetsIn(ns), post(widget('a'))))
    const object = await expect(200, ask(`${widgetsIn(ns, 'v1beta1')}/a`))
    assert.equal(object.apiVersion, `${group}/v1beta1`)
  })
}

/** Cases 29 and 59 of rules.md for a CRD in a workspace: they change it and then delete it. */
export function definitionCases(target: () => Target): void {
  const ask = (path: string, sent?: Sent) => target().client(path, sent)
  const crd = `${crds}/${fixture.metadata.name}`

  better(target, '59: does not send what a client has (8.9, 8.20)', async () => {
    for (const path of ['/apis', `/openapi/v3/apis/${group}/v1`]) {
      const accept = path === '/apis' ? recent : 'application/json'
      const { etag } = (await ask(path, { headers: { accept } })).headers
      assert.ok(etag, path)
      assert.equal((await ask(path, { headers: { accept, 'if-none-match': etag } })).status, 304)
    }
  })

  it('shows kinds without columns with name and age (7.56)', async () => {
    const answer = await ask(crd, { headers: { accept: table } })
    const { columnDefinitions, rows } = answer.json<{
      columnDefinitions: readonly { name: string; type: string }[]
      rows: readonly { cells: readonly string[] }[]
    }>()
    assert.deepEqual(
      columnDefinitions.map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Created At', 'date'],
      ],
    )
    assert.match(rows[0]?.cells[1] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  it('counts generations of its spec, and ends watches with its schema (3.30, 7.49, 8.13, 8.27)', async () => {
    const seen = async () => {
      const { headers } = await ask('/apis', { headers: { accept: recent } })
      const { paths } = (await ask('/openapi/v3')).json<{ paths: Readonly<Record<string, object>> }>()
      return JSON.stringify([headers.etag, paths[`apis/${group}/v1`]])
    }
    const before = await seen()
    const { metadata } = await expect(200, ask(crd, merge({ metadata: { labels: { a: 'b' } } })))
    const stream = await target().client.watch(`/apis/${group}/v1/widgets?watch=1`)
    const [version, other] = fixture.spec.versions
    const changed = { ...version, additionalPrinterColumns: [], selectableFields: [] }
    const next = await expect(
      200,
      ask(crd, merge({ spec: { versions: [changed, { ...other, served: false }] } })),
    )
    assert.equal(next.metadata.generation, (metadata.generation ?? 0) + 1)
    for (let frame = await stream.next(); frame !== undefined; frame = await stream.next());
    while ((await seen()) === before);
    await expect(200, ask(crd, merge({ spec: { versions: fixture.spec.versions } })))
    while ((await ask(`/apis/${group}/v1beta1/widgets`)).status !== 200);
  })

  it('29: tolerates old values that a tighter schema refuses (7.27)', async () => {
    const ns = await target().namespace()
    const object = await expect(201, ask(widgetsIn(ns), post(widget('a', { color: 'red' }))))
    const { metadata } = await expect(200, ask(crd))
    const tight = fixtureWithColors('blue')
    await expect(
      200,
      ask(crd, put({ ...tight, metadata: { ...tight.metadata, resourceVersion: metadata.resourceVersion } })),
    )
    const refused = async () =>
      (await ask(`${widgetsIn(ns)}?dryRun=All`, post(widget('b', { color: 'red' })))).status
    while ((await refused()) !== 422);
    const kept = await expect(
      200,
      ask(`${widgetsIn(ns)}/a`, put({ ...object, spec: { color: 'red', size: 5 } })),
    )
    assert.deepEqual(kept.spec, { color: 'red', size: 5 })
    const { message } = await expect(422, ask(`${widgetsIn(ns)}/a`, merge({ spec: { color: 'mauve' } })))
    assert.match(message ?? '', /spec\.color: Unsupported value: "mauve": supported values: "blue"/)
  })

  it('59: removes its objects, watches and discovery when it is deleted (7.48)', async () => {
    const ns = await target().namespace()
    await expect(201, ask(widgetsIn(ns), post(widget('a', { color: 'blue' }))))
    const stream = await target().client.watch(`${widgetsIn(ns)}?watch=1`)
    assert.equal((await stream.next())?.type, 'ADDED')
    await expect(200, ask(crd, remove()))
    const seen: string[] = []
    for (let frame = await stream.next(); frame !== undefined; frame = await stream.next())
      seen.push(frame.type)
    assert.deepEqual(new Set(seen), new Set(['DELETED']))
    while ((await ask(crd)).status !== 404);
    while ((await ask(widgetsIn(ns))).status !== 404);
    while ((await ask(`/apis/${group}/v1`)).status !== 404);
  })
}
