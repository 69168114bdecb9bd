import assert from 'node:assert/strict'
import type { APIBinding, APIExport, APIResourceSchema } from '../../../kcp/apis.ts'
import { findCondition } from '../../../kcp/conditions.ts'
import type { BindingDependencies } from '../bindingdependencies.ts'
import { bindingStatus } from './bindingstatus.ts'

const schema: APIResourceSchema = {
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: 'v1.widgets.example.io', uid: 'u1' },
  spec: {
    group: 'example.io',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
    },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: {} }],
  },
}
const exported: APIExport = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets' },
  spec: { resources: [{ name: 'widgets', group: 'example.io', schema: 'v1.widgets.example.io' }] },
  status: { identityHash: 'beef' },
}
const binding = (status?: APIBinding['status']): APIBinding => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'b' },
  spec: { reference: { export: { path: 'root:org', name: 'widgets' } } },
  ...(status === undefined ? {} : { status }),
})
const dependencies = (more: Partial<BindingDependencies> = {}): BindingDependencies => ({
  cluster: 'c1',
  exported: { cluster: 'p1', object: exported },
  isAnother: false,
  schema: () => schema,
  take: () => undefined,
  taken: () => [],
  isServed: () => true,
  ...more,
})

/** `reason: message` of a condition, or its status. */
function told(status: APIBinding['status'], type: string): string {
  const condition = findCondition(status?.conditions, type)
  return condition?.reason === undefined
    ? `${condition?.status}`
    : `${condition.reason}: ${condition.message}`
}

describe('status of a binding', () => {
  it('is bound when all resources are served', () => {
    const status = bindingStatus(binding(), dependencies())
    assert.equal(status.phase, 'Bound')
    assert.equal(status.apiExportClusterName, 'p1')
    assert.deepEqual(status.boundResources, [
      {
        group: 'example.io',
        resource: 'widgets',
        schema: { name: 'v1.widgets.example.io', UID: 'u1', identityHash: 'beef' },
        storageVersions: ['v1'],
      },
    ])
    assert.equal(told(status, 'Ready'), 'True')
  })
  const broken: Record<string, [dependencies: Partial<BindingDependencies>, type: string, text: string]> = {
    'without its export': [
      { exported: undefined },
      'APIExportValid',
      'APIExportNotFound: APIExport root:org|widgets not found',
    ],
    'when its path leads to another export': [
      { exported: undefined, isAnother: true },
      'APIExportValid',
      'APIExportNotFound: the APIExport at root:org|widgets is not the one that was bound: ' +
        'create a new APIBinding to bind it',
    ],
    'without an identity': [
      { exported: { cluster: 'p1', object: { ...exported, status: {} } } },
      'APIExportValid',
      'MissingIdentityHash: APIExport root:org|widgets is missing status.identityHash',
    ],
    'without a schema': [
      { schema: () => undefined },
      'APIExportValid',
      'InternalError: Invalid APIExport. Please contact the APIExport owner to resolve: ' +
        'APIResourceSchema "v1.widgets.example.io" not found',
    ],
    'when a definition has the resource': [
      { take: () => ({ binding: '', crd: true }) },
      'BindingUpToDate',
      'NamingConflicts: Unable to bind APIs because they are bound by other APIBindings or CRDs: ' +
        'map[widgets.example.io:{ true}]',
    ],
    'when another binding has a short name': [
      {
        taken: () => [
          {
            group: 'example.io',
            names: { plural: 'wheels', kind: 'Wheel', shortNames: ['wd'] },
            by: 'APIBinding "other" bound to APIExport root:x:wheels',
          },
        ],
      },
      'InitialBindingCompleted',
      'NamingConflicts: Unable to bind APIs: naming conflict with APIBinding "other" bound to APIExport ' +
        'root:x:wheels: spec.names.shortNames=wd is forbidden',
    ],
  }
  for (const [when, [more, type, text]] of Object.entries(broken)) {
    it(`reports a condition ${when}`, () => {
      const status = bindingStatus(binding(), dependencies(more))
      assert.equal(status.phase, 'Binding')
      assert.equal(told(status, type), text)
      assert.notEqual(told(status, 'Ready'), 'True')
    })
  }
  it('waits for its APIs at first', () => {
    const status = bindingStatus(binding(), dependencies({ exported: undefined }))
    const waiting = 'WaitingForEstablished: Waiting for API(s) to be established'
    assert.equal(told(status, 'InitialBindingCompleted'), waiting)
  })
  it('stays bound and ready when the export is deleted', () => {
    const bound = bindingStatus(binding(), dependencies())
    const status = bindingStatus(binding(bound), dependencies({ exported: undefined }))
    assert.equal(status.phase, 'Bound')
    assert.equal(told(status, 'Ready'), 'True')
    assert.equal(status.boundResources, bound.boundResources)
    assert.match(told(status, 'APIExportValid'), /^APIExportNotFound/)
  })
  it('uses a new schema of the same resource, and keeps resources that are no longer exported', () => {
    const bound = bindingStatus(binding(), dependencies())
    const next = { ...schema, metadata: { name: 'v2.widgets.example.io', uid: 'u2' } }
    const followed = bindingStatus(binding(bound), dependencies({ schema: () => next }))
    assert.equal(followed.boundResources?.[0]?.schema.UID, 'u2')
    const none = { cluster: 'p1', object: { ...exported, spec: {} } }
    assert.equal(bindingStatus(binding(bound), dependencies({ exported: none })).boundResources?.length, 1)
  })
  it('is unchanged when nothing changed', () => {
    const bound = bindingStatus(binding(), dependencies())
    assert.deepEqual(bindingStatus(binding(bound), dependencies()), bound)
  })
})
