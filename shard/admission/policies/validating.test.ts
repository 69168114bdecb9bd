import assert from 'node:assert/strict'
import { type Action, allow, noOpinion } from '../../../framework/contract/authorizer.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { UserInfo } from '../../../framework/request/user.ts'
import { turnsDuring } from '../../../test/support/time/during.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'
import { Decisions } from './authorizervariables.ts'
import type { Subject } from './matching.ts'

const group = 'admissionregistration.k8s.io'
const policies: ResourceRef = { group, version: 'v1', resource: 'validatingadmissionpolicies' }
const bindings: ResourceRef = { group, version: 'v1', resource: 'validatingadmissionpolicybindings' }

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'mine', expression: `request.name == '${name}'` }],
    ...spec,
  },
})

const binding = (policyName: string, more: object = {}): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, validationActions: ['Deny'], ...more },
})

const asked: string[] = []

/** Alice may read secrets and parameters, and the service account `robot` may get `/healthz`; decisions about `broken` fail. */
/** The selectors of the decisions that were requested. */
const limits: Pick<Action, 'fieldSelector' | 'labelSelector'>[] = []

async function authorize({ name }: UserInfo, { verb, resource, path, cluster, ...limit }: Action) {
  if (resource?.resource === 'pods') limits.push(limit)
  if (['get', 'list'].includes(verb) && resource?.resource === 'configmaps') return allow('parameters')
  asked.push(`${name} ${verb} ${resource?.resource ?? path} in ${cluster}`)
  if (resource?.name === 'broken') throw new Error('nobody knows')
  const isReading = name === 'alice' && verb === 'get' && resource?.resource === 'secrets'
  const isRobot = name === 'system:serviceaccount:default:robot' && path === '/healthz'
  return isReading || isRobot ? allow('so be it') : noOpinion('no rule')
}

describe('validating admission policies', () => {
  let tenant: TestTenant
  before(async () => {
    tenant = await testTenant({ authorizer: () => ({ authorize }) })
  })
  after(() => tenant.shard.stop())

  const create = (name: string, more: object = {}) => tenant.put(configMaps, configMap(name, more))

  async function enact(name: string, spec: object, more: object = {}): Promise<void> {
    await tenant.put(policies, policy(name, spec))
    await tenant.put(bindings, binding(name, more))
  }

  it('use the authorizer, once per decision, in the logical cluster of the write', async () => {
    const secrets = `authorizer.group('').resource('secrets').namespace('default').name('x')`
    const validations = [
      { expression: `${secrets}.check('get').allowed()` },
      { expression: `${secrets}.check('get').reason() == 'so be it'` },
      { expression: `authorizer.serviceAccount('default', 'robot').path('/healthz').check('get').allowed()` },
      { expression: `!authorizer.requestResource.check('delete').allowed()` },
      {
        expression: `${secrets}.name('broken').check('get').error() == 'nobody knows'`,
        message: 'errors are told',
      },
    ]
    await enact('asking', { validations })
    await create('asking')
    assert.deepEqual(asked.sort(), [
      'alice delete configmaps in c1',
      'alice get secrets in c1',
      'alice get secrets in c1',
      'system:serviceaccount:default:robot get /healthz in c1',
    ])
  })

  const data = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 'v']))

  it('evaluate one expression in a turn of the event loop', async () => {
    const expression = `object.data.all(k, object.data.exists(l, l == k))`
    await enact('slow', { validations: Array.from({ length: 20 }, () => ({ expression })) })
    for (const i of [1, 2, 3, 4])
      await tenant.put(bindings, { ...binding('slow'), metadata: { name: `slow-${i}` } })
    const turns = await turnsDuring(create('slow', { data: data(250) }))
    assert.ok(turns >= 20, `${turns} turns`)
  })

  it('are not evaluated any more when the request has ended', async () => {
    const stopped = new AbortController()
    stopped.abort(new Error('the request has ended'))
    const request = { group: '', resource: 'configmaps', subresource: '', key: {} }
    const subject = { ctx: { signal: stopped.signal }, request } as unknown as Subject
    const decisions = new Decisions({ authorize }, subject)
    await assert.rejects(
      decisions.settled(() => assert.fail('evaluated')),
      /the request has ended/,
    )
  })

  it('authorize selectors, and ignore those that cannot be parsed', async () => {
    const pods = `authorizer.group('').resource('pods')`
    const validations = [
      `${pods}.fieldSelector('spec.nodeName=a').labelSelector('app!=x,tier').check('list')`,
      `${pods}.fieldSelector('spec.nodeName').labelSelector('=').check('list')`,
      `${pods}.fieldSelector('').labelSelector('').check('watch')`,
    ].map(check => ({ expression: `!${check}.allowed()` }))
    await enact('limited', { validations })
    await create('limited')
    assert.deepEqual(limits, [
      {
        fieldSelector: { requirements: [{ field: 'spec.nodeName', operator: '=', value: 'a' }] },
        labelSelector: {
          requirements: [
            { key: 'app', operator: 'notin', values: ['x'] },
            { key: 'tier', operator: 'exists', values: [] },
          ],
        },
      },
      {},
      {},
    ])
  })

  it('report invalid authorizer expressions', async () => {
    const validations = [{ expression: `authorizer.group('').resource(' ').check('get').allowed()` }]
    await enact('blank', { validations })
    const { message = '' } = await refusal(create('blank'))
    assert.match(message, /resulted in error: resource must not be empty$/)
    const asking = policy('message', {
      validations: [{ expression: 'true', messageExpression: `authorizer.path('/').check('get').reason()` }],
    })
    const status = await refusal(tenant.put(policies, asking))
    assert.match(
      status.message ?? '',
      /spec.validations\[0\].messageExpression: .*undeclared reference to 'authorizer'/,
    )
  })

  it('read the options of the request', async () => {
    const validations = [
      { expression: `request.options.kind == 'CreateOptions' && request.options.fieldManager == 'me'` },
    ]
    await enact('optional', { validations })
    const asSent = { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' }
    await tenant.put(configMaps, configMap('optional'), { asSent })
    const status = await refusal(
      tenant.put(configMaps, configMap('optional'), { asSent: { ...asSent, fieldManager: 'you' } }),
    )
    assert.match(status.message ?? '', /failed expression: request.options.kind/)
  })

  it('return warnings, and add audit annotations', async () => {
    const validations = [{ expression: 'false', message: 'never', reason: 'Forbidden' }]
    const auditAnnotations = [
      { key: 'size', valueExpression: 'string(object.data.size())' },
      { key: 'nothing', valueExpression: 'null' },
    ]
    await enact('noting', { validations, auditAnnotations }, { validationActions: ['Warn', 'Audit'] })
    await create('noting', { data: { a: '1' } })
    assert.deepEqual(tenant.shard.warnings, [
      "Validation failed for ValidatingAdmissionPolicy 'noting' with binding 'noting': never",
    ])
    assert.equal(tenant.notes.get('noting/size'), '1')
    assert.ok(!tenant.notes.has('noting/nothing'))
    const [failure] = JSON.parse(
      tenant.notes.get('validation.policy.admission.k8s.io/validation_failure') ?? '[]',
    )
    assert.deepEqual(failure, {
      message: 'never',
      policy: 'noting',
      binding: 'noting',
      expressionIndex: 0,
      validationActions: ['Warn', 'Audit'],
    })
  })

  it('apply to deletions, too', async () => {
    await create('kept')
    await enact('kept', {
      validations: [{ expression: 'oldObject.metadata.name != "kept"', reason: 'Forbidden' }],
    })
    const status = await refusal(tenant.remove(configMaps, 'kept'))
    assert.deepEqual([status.code, status.reason], [403, 'Forbidden'])
  })

  it('are validated', async () => {
    const wrong = policy('wrong', {
      matchConstraints: {
        resourceRules: [{ ...rule, operations: ['*', 'CREATE'] }],
        objectSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn' }] },
      },
      validations: [{ expression: ' ', message: 'a\nb', reason: 'Teapot' }],
      auditAnnotations: [
        { key: 'a', valueExpression: '1' },
        { key: 'a', valueExpression: 'null' },
        { key: 'a/b', valueExpression: 'null' },
      ],
    })
    const { details } = await refusal(tenant.put(policies, wrong))
    assert.deepEqual(
      details?.causes?.map(({ field, message }) => `${field}: ${message}`),
      [
        "spec.matchConstraints.objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        `spec.matchConstraints.resourceRules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
        'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
        'spec.validations[0].reason: Unsupported value: "Teapot": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
        `spec.auditAnnotations[2].key: Invalid value: "wrong/a/b": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
        'spec.auditAnnotations[1].key: Duplicate value: "a"',
        'spec.validations[0].expression: Required value: expression is not specified',
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null] but got int',
      ],
    )
    const both = await refusal(
      tenant.put(bindings, binding('wrong', { validationActions: ['Deny', 'Warn'] })),
    )
    assert.match(both.message ?? '', /must not contain both Deny and Warn/)
  })

  // The last one: it refuses all writes of ConfigMaps.
  it('are at most 1,000 bindings with their parameters for one write', async () => {
    const labelled = (name: string): KubeObject => {
      const { metadata, ...rest } = configMap(name)
      return { ...rest, metadata: { ...metadata, labels: { param: 'yes' } } }
    }
    for (let i = 0; i < 35; i++) await tenant.put(configMaps, labelled(`param-${i}`))
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    await tenant.put(policies, policy('params', { paramKind, validations: [{ expression: 'true' }] }))
    const selector = { matchLabels: { param: 'yes' } }
    const paramRef = { selector, namespace: 'default', parameterNotFoundAction: 'Deny' }
    const named = (i: number): KubeObject => {
      const { spec, ...rest } = binding('params', { paramRef })
      return { ...rest, metadata: { name: `params-${i}` }, spec }
    }
    for (let i = 0; i < 28; i++) await tenant.put(bindings, named(i))
    await create('allowed')
    await tenant.put(bindings, named(28))
    assert.match((await refusal(create('refused'))).message ?? '', /limit of policy bindings is 1000/)
  })
})
