import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { discard, eventually, type Oriel } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import { apply, bind, bindingOf, createWorkspaces, exportApi, type Tenant } from '../support/tenants.ts'

// MutatingAdmissionPolicies through the running server, in a workspace and for bound resources.

const group = 'mutating.example.com'

const cowboys: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `cowboys.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'cowboys', singular: 'cowboy', kind: 'Cowboy', listKind: 'CowboyList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  intent: { type: 'string' },
                  tools: { type: 'array', items: { type: 'string' } },
                  level: { type: 'integer', default: 3 },
                },
              },
            },
          },
        },
      },
    ],
  },
}

const policyOf = (name: string, rule: object, mutations: readonly object[]): readonly KubeObject[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], ...rule }],
      },
      mutations,
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  },
]

const mutations = [
  {
    patchType: 'JSONPatch',
    jsonPatch: {
      expression: `object.spec.intent == "bad" ? [JSONPatch{op: "replace", path: "/spec/intent", value: "good"}] : []`,
    },
  },
  {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: `Object{metadata: Object.metadata{labels: {"mutated": "true"}}}` },
  },
]

const cowboy = (name: string, spec: object): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Cowboy',
  metadata: { name, namespace: 'default' },
  spec,
})

describe('mutating policies through the server', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let provider: Tenant
  let consumer: Tenant

  before(async () => {
    oriel = await startServer()
    const [first, second] = await createWorkspaces(oriel, ['map-provider', 'map-consumer'])
    assert.ok(first && second)
    provider = first
    consumer = second
    await exportApi(provider, cowboys, [])
    await bind(consumer, bindingOf(provider, group, []))
  })
  after(() => discard(oriel))

  const read = async ({ kubectl }: Tenant, kind: string, name: string): Promise<KubeObject> =>
    JSON.parse(await kubectl(['get', kind, name, '-n', 'default', '-o', 'json'])) as KubeObject

  /** Creates objects with new names until one satisfies the condition. */
  async function untilMade(
    tenant: Tenant,
    kind: string,
    make: (name: string) => KubeObject,
    isRight: (object: KubeObject) => boolean,
  ): Promise<KubeObject> {
    let count = 0
    return eventually(async () => {
      const name = `made-${count++}`
      await apply(tenant.kubectl, make(name))
      return read(tenant, kind, name)
    }, isRight)
  }

  it('change objects that are written in their workspace', async () => {
    const rule = { apiGroups: [''], resources: ['configmaps'] }
    const change = {
      expression: 'Object{data: {"by": request.userInfo.username == "" ? "nobody" : "somebody"}}',
    }
    await apply(
      consumer.kubectl,
      ...policyOf('data', rule, [{ patchType: 'ApplyConfiguration', applyConfiguration: change }]),
    )
    const configMap = (name: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default' },
      data: { a: '1' },
    })
    const isRight = ({ data }: KubeObject) => Object.hasOwn(data as object, 'by')
    const made = await untilMade(consumer, 'configmap', configMap, isRight)
    assert.deepEqual(made.data, { a: '1', by: 'somebody' })
  })

  it('of the export change bound resources, which are pruned and defaulted again', async () => {
    const rule = { apiGroups: [group], resources: ['cowboys'] }
    const before = cowboy('before', { intent: 'bad' })
    await apply(consumer.kubectl, before)
    await apply(provider.kubectl, ...policyOf('cowboys', rule, mutations))
    const isRight = ({ metadata }: KubeObject) => metadata.labels?.mutated === 'true'
    const made = await untilMade(consumer, 'cowboys', name => cowboy(name, { intent: 'bad' }), isRight)
    assert.deepEqual(made.spec, { intent: 'good', level: 3 })
    await apply(consumer.kubectl, cowboy('before', { intent: 'bad', level: 4 }))
    assert.deepEqual((await read(consumer, 'cowboys', 'before')).spec, { intent: 'good', level: 4 })
  })

  it('of the consumer do not', async () => {
    const rule = { apiGroups: [group], resources: ['cowboys'] }
    const never = [
      { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/spec"}]' } },
    ]
    await apply(consumer.kubectl, ...policyOf('own', rule, never))
    await apply(consumer.kubectl, cowboy('kept', { intent: 'bad' }))
    assert.deepEqual((await read(consumer, 'cowboys', 'kept')).spec, { intent: 'good', level: 3 })
  })

  it('refuse objects that they cannot change', async () => {
    const rule = { apiGroups: [group], resources: ['cowboys'] }
    const change = { expression: 'Object{spec: Object.spec{tools: ["lasso"]}}' }
    await apply(
      provider.kubectl,
      ...policyOf('tools', rule, [{ patchType: 'ApplyConfiguration', applyConfiguration: change }]),
    )
    let count = 0
    const said = await eventually(
      () => apply(consumer.kubectl, cowboy(`refused-${count++}`, { intent: 'x' })).catch(String),
      text => text.includes('denied'),
    )
    const why =
      "policy 'tools' with binding 'tools' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tools"
    assert.ok(said.includes(why), said)
  })
})
