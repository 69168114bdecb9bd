import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { exportHash } from '../../../kcp/labels.ts'
import { resources } from '../../../kcp/resources.ts'
import { admitting, alice, bob, create, refusal, update } from './testing/admitting.ts'

describe('admission of exports, bindings and slices', () => {
  const scene = admitting()
  const exported = (name: string, spec: object = {}): KubeObject => ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name },
    spec,
  })
  const binding = (name: string, path: string, spec: object = {}): KubeObject => ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name },
    spec: { reference: { export: { path, name: 'e' } }, ...spec },
  })
  const aboutBinding = (name: string, text: string) => refusal(`apibindings.apis.kcp.io "${name}"`, text)
  before(() => create(scene, alice, resources.apiExports, exported('e')))

  it('adds the path annotation to exports', async () => {
    const made = await create(scene, alice, resources.apiExports, exported('path'))
    assert.equal(made.metadata.annotations?.['kcp.io/path'], 'root')
  })
  it('requires the identity hash of a claimed resource', async () => {
    const claims = [{ group: 'example.io', resource: 'widgets', verbs: ['*'], identityHash: '' }]
    await assert.rejects(
      create(scene, alice, resources.apiExports, exported('c', { permissionClaims: claims })),
      refusal(
        'apiexports.apis.kcp.io "c"',
        'spec.permissionClaims[0].identityHash: Invalid value: "": identityHash is required for API types that are not built-in',
      ),
    )
  })
  it('limits the claims of an export and of a binding', async () => {
    const permissionClaims = Array.from({ length: 1_001 }, (_, i) => ({
      group: '',
      resource: `r${i}`,
      verbs: ['*'],
      state: 'Accepted',
      selector: { matchAll: true },
    }))
    const text = 'spec.permissionClaims: Too many: 1001: must have at most 1000 items'
    await assert.rejects(
      create(scene, alice, resources.apiExports, exported('many', { permissionClaims })),
      refusal('apiexports.apis.kcp.io "many"', text),
    )
    await assert.rejects(
      create(scene, alice, resources.apiBindings, binding('many', 'root', { permissionClaims })),
      aboutBinding('many', `[${text}]`),
    )
  })
  it('adds the labels, finalizer and path of a binding', async () => {
    const { metadata } = await create(scene, alice, resources.apiBindings, binding('ok', 'root'))
    assert.equal(metadata.labels?.['internal.apis.kcp.io/export'], exportHash({ cluster: 'root', name: 'e' }))
    assert.deepEqual(metadata.finalizers, ['apis.kcp.io/apibinding-finalizer'])
    assert.equal(metadata.annotations?.['kcp.io/path'], 'root')
  })
  it('has the same message for a missing export and one without permission', async () => {
    const text = (path: string) => `unable to create APIBinding: no permission to bind to export ${path}:e`
    await assert.rejects(
      create(scene, bob, resources.apiBindings, binding('no', 'root')),
      aboutBinding('no', text('root')),
    )
    await assert.rejects(
      create(scene, alice, resources.apiBindings, binding('no', 'root:nowhere')),
      aboutBinding('no', text('root:nowhere')),
    )
  })
  it('accepts missing exports in its own cluster, with a warning', async () => {
    const own = { ...binding('own', 'root'), spec: { reference: { export: { name: 'later' } } } }
    const { metadata } = await create(scene, alice, resources.apiBindings, own)
    assert.ok(metadata.labels?.['internal.apis.kcp.io/export'])
    const nothing = { ...binding('none', ''), spec: { reference: {} } }
    await assert.rejects(
      create(scene, alice, resources.apiBindings, nothing),
      aboutBinding('none', '[spec.reference.export: Required value]'),
    )
  })
  it('leaves references of the wrong type to the schema', async () => {
    for (const wrong of [
      { path: ['x'], name: 'e' },
      { path: 'root', name: 5 },
    ]) {
      const object = { ...binding('odd', 'root'), spec: { reference: { export: wrong } } }
      await assert.rejects(create(scene, alice, resources.apiBindings, object), { code: 422 })
    }
  })
  it('requires one selector per claim', async () => {
    const claims = (selector: object) => ({
      permissionClaims: [{ resource: 'secrets', verbs: ['*'], state: 'Accepted', selector }],
    })
    const both = { matchAll: true, matchLabels: { a: 'b' } }
    await assert.rejects(create(scene, alice, resources.apiBindings, binding('both', 'root', claims(both))), {
      code: 403,
      message: /matchLabels cannot be used with matchAll/,
    })
    await assert.rejects(create(scene, alice, resources.apiBindings, binding('none', 'root', claims({}))), {
      code: 403,
      message: /either one of matchAll, matchLabels, or matchExpressions must be set/,
    })
  })
  it('refuses changes of the reference of a binding', async () => {
    await create(scene, alice, resources.apiBindings, binding('kept', 'root'))
    const otherReference = { reference: { export: { path: 'root', name: 'path' } } }
    await assert.rejects(
      update(scene, alice, [resources.apiBindings, 'kept'], object => ({ ...object, spec: otherReference })),
      { code: 422, message: /APIExport reference must not be changed/ },
    )
  })
  it('refuses changes of the labels of the system', async () => {
    const label = 'internal.apis.kcp.io/export'
    await create(scene, alice, resources.apiBindings, binding('forged', 'root'))
    const { metadata } = await update(scene, alice, [resources.apiBindings, 'forged'], object => ({
      ...object,
      metadata: { ...object.metadata, labels: { [label]: 'x' } },
    }))
    assert.equal(metadata.labels?.[label], exportHash({ cluster: 'root', name: 'e' }))
  })
  it('requires the verb bind for an endpoint slice', () =>
    assert.rejects(
      create(scene, bob, resources.endpointSlices, {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIExportEndpointSlice',
        metadata: { name: 's' },
        spec: { export: { path: 'root', name: 'e' } },
      }),
      refusal(
        'apiexportendpointslices.apis.kcp.io "s"',
        'unable to create APIExportEndpointSlice: no permission to bind to export root:e',
      ),
    ))
  it('validates schemas', () =>
    assert.rejects(
      create(scene, alice, resources.apiResourceSchemas, {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: { name: 'wrong' },
        spec: {
          group: 'example.io',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
        },
      }),
      refusal(
        'apiresourceschemas.apis.kcp.io "wrong"',
        '[metadata.name: Invalid value: "wrong": must end in .widgets.example.io]',
      ),
    ))
  for (const group of ['apis.kcp.io', 'things.apis.kcp.io', 'core.kcp.io', 'cache.kcp.io', 'views.oriel.dev'])
    it(`reserves the group ${group}`, () =>
      assert.rejects(
        create(scene, alice, resources.crds, {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: {
            name: `things.${group}`,
            annotations: { 'api-approved.kubernetes.io': 'unapproved' },
          },
          spec: {
            group,
            names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
            scope: 'Cluster',
            versions: [
              { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
            ],
          },
        }),
        refusal(
          `customresourcedefinitions.apiextensions.k8s.io "things.${group}"`,
          `${group} is a reserved group`,
        ),
      ))
})
