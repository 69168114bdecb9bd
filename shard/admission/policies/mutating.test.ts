import assert from 'node:assert/strict'
import { type Action, allow, noOpinion } from '../../../framework/contract/authorizer.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { UserInfo } from '../../../framework/request/user.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'

const group = 'admissionregistration.k8s.io'
const refOf = (resource: string): ResourceRef => ({ group, version: 'v1', resource })

let tenant: TestTenant
const put = (ref: ResourceRef, object: KubeObject): Promise<KubeObject> => tenant.put(ref, object)

const rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
}
const merging = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

const policy = (name: string, mutations: readonly object[], more: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'mine', expression: `object.metadata.name == '${name}'` }],
    mutations,
    ...more,
  },
})

const binding = (policyName: string, more: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, ...more },
})

async function enact(name: string, mutations: readonly object[], more: object = {}, bound: object = {}) {
  await put(refOf('mutatingadmissionpolicies'), policy(name, mutations, more))
  await put(refOf('mutatingadmissionpolicybindings'), binding(name, bound))
}

const create = (name: string, more: object = {}) => put(configMaps, configMap(name, more))

/** ConfigMaps are the parameters of policies. */
const authorize = async (_user: UserInfo, { resource }: Action) =>
  resource?.resource === 'configmaps' ? allow('') : noOpinion('')

describe('mutating admission policies', () => {
  before(async () => {
    tenant = await testTenant({ authorizer: () => ({ authorize }) })
  })
  after(() => tenant.shard.stop())

  it('merge the apply configuration of an expression', async () => {
    await enact('merge', [
      merging(
        'Object{metadata: Object.metadata{labels: {"made": object.metadata.name}}, data: {"a": "new"}}',
      ),
    ])
    const made = await create('merge', { data: { a: 'old', b: 'kept' } })
    assert.deepEqual(made.data, { a: 'new', b: 'kept' })
    assert.deepEqual(made.metadata.labels, { made: 'merge' })
  })

  it('apply JSON patches in order', async () => {
    await enact('patch', [
      patching(
        '[JSONPatch{op: "add", path: "/metadata/annotations", value: {}},' +
          ' JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/a.b"), value: "x"}]',
      ),
      patching(
        '[JSONPatch{op: "add", path: "/data", value: Object.data{seen: object.metadata.annotations.size() == 1 ? "yes" : "no"}}]',
      ),
    ])
    const made = await create('patch')
    assert.equal(made.metadata.annotations?.['example.com/a.b'], 'x')
    assert.deepEqual(made.data, { seen: 'yes' })
  })

  it('do not change system fields', async () => {
    await enact('forged', [
      patching(
        '[JSONPatch{op: "add", path: "/metadata/uid", value: "forged"},' +
          ' JSONPatch{op: "add", path: "/metadata/creationTimestamp", value: "2001-01-01T00:00:00Z"}]',
      ),
      merging('Object{metadata: Object.metadata{uid: "forged"}}'),
    ])
    const { metadata } = await create('forged')
    assert.match(metadata.uid ?? '', /^[\da-f-]{36}$/)
    assert.notEqual(metadata.creationTimestamp, '2001-01-01T00:00:00Z')
  })

  it('do nothing when a test operation fails, a condition is false, or there is no binding', async () => {
    await enact('tested', [
      patching(
        '[JSONPatch{op: "add", path: "/data/b", value: "2"}, JSONPatch{op: "test", path: "/data/a", value: "2"}]',
      ),
    ])
    assert.deepEqual((await create('tested', { data: { a: '1' } })).data, { a: '1' })
    await put(refOf('mutatingadmissionpolicies'), policy('loose', [merging('Object{data: {"a": "2"}}')]))
    assert.deepEqual((await create('loose', { data: { a: '1' } })).data, { a: '1' })
  })

  it('use parameters and variables', async () => {
    await create('parameters', { data: { color: 'mauve' } })
    await enact(
      'parametrized',
      [merging('Object{data: {"color": variables.color}}')],
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        variables: [{ name: 'color', expression: 'params.data.color + "!"' }],
      },
      { paramRef: { name: 'parameters', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    )
    assert.deepEqual((await create('parametrized')).data, { color: 'mauve!' })
  })

  it('refuse when their parameters do not exist', async () => {
    await enact(
      'lost',
      [merging('Object{data: params.data}')],
      { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConditions: [] },
      {
        paramRef: { name: 'nobody', namespace: 'default', parameterNotFoundAction: 'Deny' },
        matchResources: { resourceRules: [{ ...rule, resourceNames: ['lost'] }] },
      },
    )
    const status = await refusal(create('lost'))
    const message =
      "policy 'lost' with binding 'lost' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert.deepEqual([status.code, status.reason, status.message], [403, 'Forbidden', message])
    assert.deepEqual(status.details, { name: 'lost', kind: 'configmaps', causes: [{ message }] })
  })

  const failures: readonly (readonly [name: string, mutation: object, why: string])[] = [
    [
      'missing-key',
      merging('Object{data: {"a": object.data.nothing}}'),
      `expression 'Object{data: {"a": object.data.nothing}}' resulted in error: no such key: data`,
    ],
    [
      'misnamed',
      merging('Object{metadata: Object.spec{}}'),
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
    ],
    [
      'mistyped',
      patching('[JSONPatch{op: "add", path: "/metadata/labels", value: ["a"]}]'),
      'json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    ],
    [
      'unknown-field',
      merging('Object{spec: Object.spec{}}'),
      'error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema',
    ],
    [
      'wrong-type',
      merging('Object{data: {"a": 1}}'),
      'error applying patch: failed to convert patch object to typed object: .data.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'bad-pointer',
      patching('[JSONPatch{op: "replace", path: "/data/a", value: "b"}]'),
      'JSON Patch: replace operation does not apply: doc is missing path: /data/a: missing value',
    ],
  ]
  for (const [name, mutation, why] of failures)
    it(`follow failurePolicy when they fail: ${name}`, async () => {
      await enact(name, [mutation])
      const status = await refusal(create(name))
      assert.deepEqual(
        [status.code, status.reason, status.message],
        [403, 'Invalid', `policy '${name}' with binding '${name}' denied request: ${why}`],
      )
      const lenient = `${name}-lenient`
      await enact(lenient, [mutation, merging('Object{data: {"after": "1"}}')], { failurePolicy: 'Ignore' })
      assert.deepEqual((await create(lenient)).data, { after: '1' })
    })

  it('cannot change atomic lists', async () => {
    await enact('atomic', [
      merging(
        'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: "a"}]}}',
      ),
    ])
    const { message } = await refusal(create('atomic'))
    assert.equal(
      message,
      "policy 'atomic' with binding 'atomic' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .metadata.ownerReferences[0]",
    )
  })

  it('cannot make an object too large together', async () => {
    const doubling = patching(
      '[JSONPatch{op: "replace", path: "/data/text", value: object.data.text + object.data.text}]',
    )
    await enact('grow', Array(4).fill(doubling))
    await enact('growmore', Array(8).fill(doubling), {
      matchConditions: [{ name: 'mine', expression: "object.metadata.name == 'grow'" }],
    })
    const status = await refusal(create('grow', { data: { text: 'x'.repeat(1024) } }))
    assert.equal(status.code, 413)
    assert.match(status.message ?? '', /3145728 characters after MutatingAdmissionPolicy growmore$/)
  })

  it('may use the authorizer', async () => {
    const asking = `authorizer.group('').resource('secrets').namespace('default').check('get')`
    await enact('asking', [
      merging(`Object{data: {"may": string(${asking}.allowed()), "why": ${asking}.reason()}}`),
    ])
    assert.deepEqual((await create('asking')).data, { may: 'false', why: '' })
  })

  it('are called again after later changes of the object, with reinvocationPolicy', async () => {
    const counting = (name: string) =>
      merging(
        `Object{metadata: Object.metadata{labels: {"${name}": object.metadata.?labels["${name}"].orValue("") + "x"}}}`,
      )
    const matchConditions = [{ name: 'mine', expression: "object.metadata.name == 'again'" }]
    await enact('again-a', [counting('a')], { matchConditions, reinvocationPolicy: 'IfNeeded' })
    await enact('again-b', [counting('b')], { matchConditions })
    assert.deepEqual((await create('again')).metadata.labels, { a: 'xx', b: 'x' })
  })

  it('are validated', async () => {
    const wrong = policy(
      'wrong',
      [
        merging('[1]'),
        patching('Object{}'),
        { patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } },
        { patchType: 'Magic' },
        merging(' '),
      ],
      { matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE', 'DELETE'] }] } },
    )
    const status = await refusal(put(refOf('mutatingadmissionpolicies'), wrong))
    assert.equal(status.code, 422)
    assert.deepEqual(
      status.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
      [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
        'spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch',
        'spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
        'spec.mutations[3].patchType: Unsupported value: "Magic": supported values: "ApplyConfiguration", "JSONPatch"',
        'spec.mutations[0].applyConfiguration.expression: Invalid value: "[1]": must evaluate to Object but got list(int)',
        'spec.mutations[1].jsonPatch.expression: Invalid value: "Object{}": must evaluate to list(JSONPatch) but got Object',
        'spec.mutations[4].applyConfiguration.expression: Required value',
      ],
    )
  })

  it('are refused without a spec, and so are bindings', async () => {
    const empty = { ...policy('empty', []), spec: {} }
    const policyStatus = await refusal(put(refOf('mutatingadmissionpolicies'), empty))
    assert.deepEqual(
      policyStatus.details?.causes?.map(({ field }) => field),
      ['spec.matchConstraints', 'spec.mutations'],
    )
    const unbound = { ...binding('empty'), spec: { paramRef: {} } }
    const bindingStatus = await refusal(put(refOf('mutatingadmissionpolicybindings'), unbound))
    assert.deepEqual(
      bindingStatus.details?.causes?.map(({ field, message }) => `${field}: ${message}`),
      [
        'spec.policyName: Required value',
        'spec.paramRef: Required value: one of name or selector must be specified',
      ],
    )
  })
})
