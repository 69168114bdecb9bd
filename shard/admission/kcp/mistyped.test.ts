import assert from 'node:assert/strict'
import { resources } from '../../../kcp/resources.ts'
import { admitting, alice, create, keyOf, update } from './testing/admitting.ts'

const workspace = (spec: unknown) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'mistyped' },
  spec,
})

describe('values of the wrong type in kinds of kcp', () => {
  const scene = admitting()
  const invalid = (text: string) => ({
    code: 422,
    message: new RegExp(`^Workspace.tenancy.kcp.io "mistyped" is invalid: .*${text}`),
  })
  const refused: readonly (readonly [spec: unknown, text: string])[] = [
    [
      { type: 'Universal' },
      'spec.type: Invalid value: "string": spec.type in body must be of type object: "string"',
    ],
    [{ type: 5 }, 'spec.type: Invalid value: "integer": spec.type in body must be of type object: "integer"'],
    [{ type: ['a'] }, 'spec.type: Invalid value: "array": spec.type in body must be of type object: "array"'],
    ['x', 'spec: Invalid value: "string": spec in body must be of type object: "string"'],
    [[], 'spec: Invalid value: "array": spec in body must be of type object: "array"'],
    [
      { type: { name: 'universal', path: 7 } },
      'spec.type.path: Invalid value: "integer": spec.type.path in body must be of type string: "integer"',
    ],
    [
      { mount: 'x' },
      'spec.mount: Invalid value: "string": spec.mount in body must be of type object: "string"',
    ],
    [
      { mount: { ref: 5 } },
      'spec.mount.ref: Invalid value: "integer": spec.mount.ref in body must be of type object: "integer"',
    ],
  ]
  for (const [spec, text] of refused)
    it(`are invalid in a new object: ${JSON.stringify(spec)}`, () =>
      assert.rejects(create(scene, alice, scene.tenancy.workspaces, workspace(spec)), invalid(text)))

  it('are invalid in an update', async () => {
    await create(scene, alice, scene.tenancy.workspaces, workspace({ type: { name: 'universal' } }))
    for (const spec of ['x', [], { type: 'universal' }])
      await assert.rejects(
        update(scene, alice, [scene.tenancy.workspaces, 'mistyped'], object => ({ ...object, spec })),
        invalid('must be of type object'),
      )
  })

  it('are not checked in a status that the write does not store', async () => {
    const object = { ...workspace({ type: { name: 'universal' } }), status: 'x' }
    const named = { ...object, metadata: { name: 'status' } }
    const { status } = await create(scene, alice, scene.tenancy.workspaces, named)
    assert.equal(typeof status, 'object')
  })

  it('are invalid in the fields of exports and bindings that plugins read', async () => {
    const kinds = [
      [resources.apiExports, 'APIExport', { resources: [{ name: 'a', group: 'b', schema: 5 }] }],
      [resources.apiExports, 'APIExport', { permissionClaims: 5 }],
      [resources.apiBindings, 'APIBinding', { reference: 'x' }],
      [
        resources.apiBindings,
        'APIBinding',
        { reference: { export: { name: 'e' } }, permissionClaims: [null] },
      ],
      [resources.apiResourceSchemas, 'APIResourceSchema', { group: 5, versions: 'x' }],
    ] as const
    for (const [ref, kind, spec] of kinds) {
      const apiVersion = `${ref.group}/${ref.version}`
      const object = { apiVersion, kind, metadata: { name: 'mistyped' }, spec }
      await assert.rejects(create(scene, alice, ref, object), { code: 422, message: /must be of type/ })
    }
  })

  it('are invalid when a policy of a tenant has written them', async () => {
    const group = 'admissionregistration.k8s.io'
    const put = (resource: string, kind: string, spec: object) =>
      scene.shard.client.create({ group, version: 'v1', resource }, keyOf('mistyping'), {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name: 'mistyping' },
        spec,
      })
    const expression = '[JSONPatch{op: "replace", path: "/spec/type", value: "Universal"}]'
    await put('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['tenancy.kcp.io'],
            apiVersions: ['*'],
            operations: ['CREATE'],
            resources: ['workspaces'],
          },
        ],
      },
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    })
    await put('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', {
      policyName: 'mistyping',
    })
    await assert.rejects(
      create(scene, alice, scene.tenancy.workspaces, workspace({ type: { name: 'universal' } })),
      invalid('spec.type in body must be of type object: "string"'),
    )
  })
})
