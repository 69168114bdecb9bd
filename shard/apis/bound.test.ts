import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { BoundAPIResource } from '../../kcp/apis.ts'
import { createSchemas } from './bound.ts'

const uid = 'u1'
const bound: BoundAPIResource = {
  group: 'example.com',
  resource: 'widgets',
  schema: { name: 'v1.widgets.example.com', UID: uid, identityHash: 'h' },
}

const schemaOf = (kind: string) => ({
  object: {
    apiVersion: 'apis.kcp.io/v1alpha1',
    kind: 'APIResourceSchema',
    metadata: { name: bound.schema.name, uid },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', singular: 'widget', kind, listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
    },
  } as KubeObject,
})

const copyOf = (kind: string) => {
  const { object } = schemaOf(kind)
  const { versions, ...spec } = object.spec as { readonly versions: readonly { readonly schema: object }[] }
  return {
    object: {
      ...object,
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: {
        ...spec,
        versions: versions.map(version => ({ ...version, schema: { openAPIV3Schema: version.schema } })),
      },
    } as KubeObject,
  }
}

describe('the schema of a bound resource', () => {
  const kindServed = (schemas: ReturnType<typeof createSchemas>) =>
    schemas.served(bound, false)?.definition.names.kind

  it('is its copy of the system, whatever schema has the same uid', () => {
    const schemas = createSchemas()
    schemas.set(uid, 'copy', copyOf('Widget'))
    schemas.set(uid, 'schema', schemaOf('Forged'))
    assert.equal(kindServed(schemas), 'Widget')
    schemas.set(uid, 'schema', undefined)
    assert.equal(kindServed(schemas), 'Widget')
  })

  it('is the APIResourceSchema where there is no copy', () => {
    const schemas = createSchemas()
    assert.equal(schemas.set(uid, 'schema', schemaOf('Widget')), true)
    assert.equal(kindServed(schemas), 'Widget')
  })
})
