import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { noForeignCrds } from '../../test/support/crds.ts'
import { skip } from '../../test/support/notrun.ts'
import type { GroupVersionKind } from './schema.ts'
import { crds, everything, newDocuments, read, same, setOf, unresolved } from './testing/served.ts'
import type { DocumentV2 } from './v2.ts'

describe('OpenAPI v2', () => {
  let document: DocumentV2
  before(async () => {
    document = read<DocumentV2>((await newDocuments().v2(everything)).bytes)
  })

  it('has the paths and definitions of all group versions', () => {
    assert.equal(document.swagger, '2.0')
    assert.ok(document.paths['/api/v1/namespaces/{namespace}/secrets/{name}'])
    assert.ok(document.paths['/apis/tenancy.kcp.io/v1alpha1/workspaces'])
    assert.deepEqual(unresolved(document), [])
  })

  it('lists every group version for DeleteOptions', () => {
    const options = document.definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']
    const kinds = options?.['x-kubernetes-group-version-kind'] as readonly GroupVersionKind[]
    for (const { group, version, verbs } of everything.resources)
      if (verbs.includes('delete'))
        assert.ok(
          kinds.some(kind => same(kind, { group, version, kind: 'DeleteOptions' })),
          group,
        )
  })

  it('has no keywords that Swagger 2.0 lacks', () => {
    const text = JSON.stringify(document)
    for (const key of ['oneOf', 'anyOf', 'allOf', 'not', 'nullable', 'requestBody', 'components'])
      assert.ok(!text.includes(`"${key}":`), key)
  })

  it('does not require fields with a default, because clients validate before defaulting', () => {
    const workspace = document.definitions['io.kcp.tenancy.v1alpha1.Workspace'] as JSONSchemaProps
    assert.ok(!workspace.required?.includes('spec'))
    const binding = document.definitions['io.kcp.apis.v1alpha2.APIBinding'] as JSONSchemaProps
    assert.ok(binding.properties?.spec?.required?.includes('reference'))
  })

  it('leaves out schemas that it cannot express', () => {
    const widget = document.definitions['com.example.v1.Widget'] as JSONSchemaProps
    const { color, size, template } = widget.properties?.spec?.properties ?? {}
    assert.deepEqual(color, {})
    assert.deepEqual(size, { 'x-kubernetes-int-or-string': true })
    assert.deepEqual(template?.properties?.metadata, {
      description: 'Standard metadata of the object.',
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    })
  })

  it('has bodies as parameters', () => {
    const path = document.paths['/apis/example.com/v1/namespaces/{namespace}/widgets/{name}'] as {
      patch: { consumes: readonly string[]; parameters: readonly { name: string; in: string }[] }
    }
    assert.deepEqual(path.patch.consumes, [
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
    assert.deepEqual(path.patch.parameters[0], {
      name: 'body',
      in: 'body',
      required: true,
      schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch' },
    })
  })
})

describe('OpenAPI v2 of CRDs of other projects', () => {
  it('has every kind once', async function () {
    const kinds = crds()
    if (kinds.length === 0) skip(this, noForeignCrds)
    const apis = setOf([], kinds)
    const v2 = read<DocumentV2>((await newDocuments().v2(apis)).bytes)
    assert.deepEqual(unresolved(v2), [])
    for (const { group, version, names } of apis.resources) {
      const gvk = { group, version, kind: names.kind }
      const found = Object.values(v2.definitions).filter(definition =>
        kindsOf(definition).some(kind => same(kind, gvk)),
      )
      assert.equal(found.length, 1, names.kind)
    }
  })
})

const kindsOf = (definition: Readonly<Record<string, unknown>>): readonly GroupVersionKind[] =>
  (definition['x-kubernetes-group-version-kind'] as readonly GroupVersionKind[] | undefined) ?? []
