import assert from 'node:assert/strict'
import type { ApiSet } from '../../framework/contract/apis.ts'
import type { OpenApiDocuments } from '../../framework/contract/documents.ts'
import { noForeignCrds } from '../../test/support/crds.ts'
import { skip } from '../../test/support/notrun.ts'
import { workspace } from '../definitions/kcp/workspaces.ts'
import { builtinKinds } from '../definitions/kubernetes/index.ts'
import type { GroupVersionKind } from './schema.ts'
import { crds, everything, newDocuments, read, same, setOf, unresolved, widgets } from './testing/served.ts'
import type { DocumentV3 } from './v3.ts'

const bytesOf = async (
  documents: OpenApiDocuments,
  apis: ApiSet,
  path: string,
): Promise<Buffer | undefined> => (await documents.v3(apis, path))?.bytes

const v3 = async (apis: ApiSet, path: string): Promise<DocumentV3> =>
  read(await bytesOf(newDocuments(), apis, path))

/** kubectl finds the kind of a resource in its path, and the schema by that kind (`kubectl explain`). */
function explained(document: DocumentV3, path: string): GroupVersionKind | undefined {
  const item = document.paths[path]
  return (item?.get ?? item?.post)?.['x-kubernetes-group-version-kind']
}
const componentsFor = (document: DocumentV3, gvk: GroupVersionKind): readonly string[] =>
  Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    schema['x-kubernetes-group-version-kind']?.some(kind => same(kind, gvk)) ? [name] : [],
  )

/** kubectl leaves validation to the server when the PATCH of the kind has `fieldValidation`. */
const validates = (document: DocumentV3, gvk: GroupVersionKind): boolean =>
  Object.values(document.paths).some(
    ({ patch }) =>
      patch?.['x-kubernetes-group-version-kind'] !== undefined &&
      same(patch['x-kubernetes-group-version-kind'], gvk) &&
      patch.parameters?.some(p => p.name === 'fieldValidation') === true,
  )

describe('OpenAPI v3', () => {
  it('has one document per group version, and those of discovery', async () => {
    const paths = [...(await newDocuments().index(setOf(builtinKinds, [widgets]))).keys()]
    assert.deepEqual(paths, [
      'api',
      'api/v1',
      'apis',
      'apis/admissionregistration.k8s.io',
      'apis/admissionregistration.k8s.io/v1',
      'apis/apiextensions.k8s.io',
      'apis/apiextensions.k8s.io/v1',
      'apis/authentication.k8s.io',
      'apis/authentication.k8s.io/v1',
      'apis/authorization.k8s.io',
      'apis/authorization.k8s.io/v1',
      'apis/certificates.k8s.io',
      'apis/certificates.k8s.io/v1',
      'apis/coordination.k8s.io',
      'apis/coordination.k8s.io/v1',
      'apis/events.k8s.io',
      'apis/events.k8s.io/v1',
      'apis/example.com',
      'apis/example.com/v1',
      'apis/rbac.authorization.k8s.io',
      'apis/rbac.authorization.k8s.io/v1',
      'version',
    ])
  })

  it('serves self-contained documents, under the hash of their content', async () => {
    const all = newDocuments()
    for (const [path, etag] of await all.index(everything)) {
      const document = await all.v3(everything, path)
      assert.equal(document?.etag, etag, path)
      assert.match(etag, /^[0-9A-F]{128}$/)
      assert.deepEqual(unresolved(read(document?.bytes)), [], path)
    }
    assert.equal(await all.v3(everything, 'apis/none.example/v1'), undefined)
  })

  it('leads kubectl from a resource to its schema, and to server-side validation', async () => {
    const all = newDocuments()
    for (const resource of everything.resources) {
      const { group, version, names, namespaced, verbs } = resource
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
      const document = read<DocumentV3>(await bytesOf(all, everything, path))
      const url = `/${path}${namespaced ? '/namespaces/{namespace}' : ''}/${names.plural}`
      const gvk = { group, version, kind: names.kind }
      assert.deepEqual(explained(document, url), gvk, url)
      assert.equal(componentsFor(document, gvk).length, 1, url)
      assert.equal(validates(document, gvk), verbs.includes('patch'), url)
    }
  })

  it('names models and operations as Kubernetes does', async () => {
    const core = await v3(everything, 'api/v1')
    assert.ok(core.components.schemas['io.k8s.api.core.v1.ConfigMapList'])
    const item = core.paths['/api/v1/namespaces/{namespace}/configmaps/{name}']
    assert.equal(item?.get?.operationId, 'readCoreV1NamespacedConfigMap')
    assert.deepEqual(item?.get?.tags, ['core_v1'])
    assert.equal(
      core.paths['/api/v1/namespaces/{name}/status']?.put?.operationId,
      'replaceCoreV1NamespaceStatus',
    )
    const custom = await v3(everything, 'apis/example.com/v1')
    assert.ok(custom.components.schemas['com.example.v1.Widget'])
    assert.deepEqual(custom.paths['/apis/example.com/v1/widgets']?.get?.['x-kubernetes-group-version-kind'], {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
    })
  })

  it('gives every operation of a document its own id', async () => {
    const all = newDocuments()
    for (const path of (await all.index(everything)).keys()) {
      const { paths } = read<DocumentV3>(await bytesOf(all, everything, path))
      const ids = Object.values(paths).flatMap(({ parameters: _, ...operations }) =>
        Object.values(operations).map(operation => operation.operationId),
      )
      assert.equal(new Set(ids).size, ids.length, path)
    }
  })

  it('publishes only supported operations', async () => {
    const { paths } = await v3(everything, 'apis/authentication.k8s.io/v1')
    const item = paths['/apis/authentication.k8s.io/v1/tokenreviews']
    assert.deepEqual(Object.keys(item ?? {}), ['post', 'parameters'])
    assert.equal(paths['/apis/authentication.k8s.io/v1/tokenreviews/{name}'], undefined)
  })

  it('lists the supported patch types', async () => {
    const { paths } = await v3(everything, 'apis/example.com/v1')
    const body = paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}']?.patch?.requestBody
    assert.deepEqual(Object.keys(body?.content ?? {}), [
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
  })

  it('has the common fields of objects, selectable fields and subresources of other kinds', async () => {
    const { components, paths } = await v3(everything, 'apis/example.com/v1')
    const widget = components.schemas['com.example.v1.Widget']
    const spec = widget?.properties?.spec
    assert.deepEqual(widget?.['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.color' }])
    assert.deepEqual(Object.keys(spec?.properties?.template?.properties ?? {}), [
      'apiVersion',
      'kind',
      'metadata',
    ])
    assert.deepEqual(spec?.oneOf, [{ required: ['color'] }])
    const scale = paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale']
    assert.deepEqual(scale?.get?.['x-kubernetes-group-version-kind'], {
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    })
    assert.ok(components.schemas['io.k8s.api.autoscaling.v1.Scale'])
  })

  it('writes integers beyond 2^53 exactly', async () => {
    const bytes = await bytesOf(newDocuments(), everything, 'apis/example.com/v1')
    assert.ok(bytes?.includes('"maximum":9223372036854775807'))
  })
})

describe('sharing of OpenAPI documents', () => {
  it('hands out the same bytes to ApiSets that serve the same in a group version', async () => {
    const all = newDocuments()
    const [one, other] = [setOf(builtinKinds, [widgets]), setOf(builtinKinds, [workspace])]
    assert.equal(await bytesOf(all, one, 'api/v1'), await bytesOf(all, other, 'api/v1'))
    assert.equal(await all.index(one), await all.index(one))
    assert.equal((await all.index(one)).get('api/v1'), (await all.index(other)).get('api/v1'))
  })

  it('distinguishes resources that differ in one schema', async () => {
    const all = newDocuments()
    const [version] = widgets.versions
    assert.ok(version)
    const changed = {
      ...widgets,
      versions: [{ ...version, schema: { ...version.schema, description: 'new' } }],
    }
    const [before, after] = [setOf([], [widgets]), setOf([], [changed])]
    const etagOf = async (apis: ApiSet) => (await all.index(apis)).get('apis/example.com/v1')
    assert.notEqual(await etagOf(before), await etagOf(after))
    assert.notEqual((await all.v2(before)).etag, (await all.v2(after)).etag)
  })

  it('keeps built-in documents small', async () => {
    const bytes = (await bytesOf(newDocuments(), everything, 'api/v1'))?.length ?? 0
    assert.ok(bytes > 10_000 && bytes < 500_000, `${bytes} bytes`)
  })
})

describe('OpenAPI documents of large definitions', () => {
  const text = { type: 'string' as const }
  const properties = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, text]))
  const [version] = widgets.versions
  assert.ok(version)
  const large = { ...widgets, versions: [{ ...version, schema: { type: 'object' as const, properties } }] }

  for (const format of ['index', 'v2', 'v2Protobuf'] as const)
    it(`are rendered in turns: ${format}`, async () => {
      let [turns, isDone] = [0, false]
      const turn = (): void => {
        turns++
        if (!isDone) setImmediate(turn)
      }
      setImmediate(turn)
      await newDocuments()[format](setOf([], [large]))
      isDone = true
      assert.ok(turns > 5, `${turns} turns`)
    })

  it('are rendered once for all who ask at a time', async () => {
    const all = newDocuments()
    const apis = setOf([], [large])
    const [one, other] = await Promise.all([all.v2(apis), all.v2(apis)])
    assert.equal(one.bytes, other.bytes)
  })
})

describe('OpenAPI v3 of CRDs of other projects', () => {
  it('is self-contained', async function () {
    const kinds = crds()
    if (kinds.length === 0) skip(this, noForeignCrds)
    const apis = setOf([], kinds)
    const all = newDocuments()
    for (const path of (await all.index(apis)).keys())
      assert.deepEqual(unresolved(read(await bytesOf(all, apis, path))), [], path)
  })
})
