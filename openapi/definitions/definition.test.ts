import assert from 'node:assert/strict'
import { definitionOf } from '../resource.ts'
import { apiResourceSchemaOf, resourceName, schemaFor } from './definition.ts'
import { apiExport } from './kcp/exports.ts'
import { kcpKinds } from './kcp/index.ts'
import { workspace } from './kcp/workspaces.ts'
import { configMaps } from './kubernetes/core.ts'
import { builtinKinds } from './kubernetes/index.ts'

describe('schemaFor', () => {
  it('is the schema of one version', () => {
    assert.equal(schemaFor(apiExport, 'v1alpha2'), apiExport.versions[1]?.schema)
  })
  it('names a missing version', () => {
    assert.throws(() => schemaFor(apiExport, 'v9'), new TypeError('APIExport has no version v9'))
  })
})

describe('resourceName', () => {
  it('names resources with their group, the core group as core', () => {
    assert.equal(resourceName(workspace), 'workspaces.tenancy.kcp.io')
    assert.equal(resourceName(configMaps), 'configmaps.core')
  })
})

describe('apiResourceSchemaOf', () => {
  it('has the prefix in its name', () => {
    const schema = apiResourceSchemaOf(workspace, 'v260522-2bf05df66')
    assert.equal(schema.metadata.name, 'v260522-2bf05df66.workspaces.tenancy.kcp.io')
  })
  it('describes the same kind again', () => {
    for (const kind of kcpKinds) assert.deepEqual(definitionOf(apiResourceSchemaOf(kind, 'v1')), kind)
  })
  it('omits columns that no JSON path can express', () => {
    for (const kind of builtinKinds)
      assert.ok(JSON.stringify(apiResourceSchemaOf(kind, 'v1')).includes(kind.names.kind))
  })
  it('needs a conversion strategy when there are several versions', () => {
    const { spec } = apiResourceSchemaOf(apiExport, 'v1')
    assert.deepEqual((spec as { conversion?: unknown }).conversion, { strategy: 'None' })
  })
})
