import assert from 'node:assert/strict'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { createAddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { type Answers, serveWebhooks, type Webhooks } from '../../../test/support/servers/webhooks.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'

const group = 'admissionregistration.k8s.io'
const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' }
const refOf = (resource: string): ResourceRef => ({ group, version: 'v1', resource })

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: Readonly<Record<string, unknown>> & {
    readonly uid: string
    readonly object: KubeObject
    readonly dryRun: boolean
    readonly options: unknown
  }
}

const asked: Review[] = []
const about = (path: string) => asked.filter(({ request }) => request.object.metadata.name?.startsWith(path))

const patch = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

/** A patch that appends a letter to a value. */
const append =
  (letter: string) =>
  ({ request: { object } }: Review) => {
    const seen = ((object.data ?? {}) as { seen?: string }).seen ?? ''
    return patch({ op: 'add', path: '/data', value: { seen: seen + letter } })
  }

const wrong: Readonly<Record<string, readonly [answer: object, why: RegExp]>> = {
  uid: [
    { uid: 'other', allowed: true },
    /received invalid webhook response: expected response.uid="[^"]+", got "other"$/,
  ],
  typeless: [{ allowed: true, patch: 'W10=' }, /webhook returned response.patch but not response.patchType$/],
  patchless: [
    { allowed: true, patchType: 'JSONPatch' },
    /webhook returned response.patchType but not response.patch$/,
  ],
  merging: [
    { allowed: true, patch: 'W10=', patchType: 'Merge' },
    /webhook returned invalid response.patchType of "Merge"$/,
  ],
}

const recording = (answers: Answers<Review>): Answers<Review> =>
  Object.fromEntries(
    Object.entries(answers).map(([path, answer]) => [
      path,
      review => {
        asked.push(review)
        return answer(review)
      },
    ]),
  )

const answers = recording({
  '/a': append('a'),
  '/b': append('b'),
  '/allow': () => ({ allowed: true, warnings: ['mind the gap'], auditAnnotations: { why: 'because' } }),
  '/silent': () => 'silence',
  '/broken': () => 500,
  ...Object.fromEntries(Object.entries(wrong).map(([name, [answer]]) => [`/${name}`, () => answer])),
})

describe('webhooks of a workspace', () => {
  let tenant: TestTenant
  let webhooks: Webhooks
  before(async () => {
    webhooks = await serveWebhooks(answers)
    tenant = await testTenant({ webhookAddresses: createAddressPolicy({ allow: ['127.0.0.1'] }) })
  })
  after(async () => {
    webhooks.close()
    await tenant.shard.stop()
  })

  const create = (name: string, options = {}) => tenant.put(configMaps, configMap(name), options)

  /** A webhook for ConfigMaps whose name begins with `of`. */
  const webhook = (of: string, path: string, more: object = {}) => ({
    name: `${path}.${of}.example.com`,
    clientConfig: { url: `${webhooks.url}/${path}`, caBundle: webhooks.caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    matchConditions: [{ name: 'mine', expression: `object.metadata.name.startsWith('${of}')` }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  })

  const configure = (kind: 'Mutating' | 'Validating', name: string, ...hooks: readonly object[]) =>
    tenant.put(refOf(`${kind.toLowerCase()}webhookconfigurations`), {
      apiVersion: `${group}/v1`,
      kind: `${kind}WebhookConfiguration`,
      metadata: { name },
      webhooks: hooks,
    } as KubeObject)

  it('are called again after later changes of the object, with reinvocationPolicy', async () => {
    await configure(
      'Mutating',
      'again',
      webhook('again', 'a', { reinvocationPolicy: 'IfNeeded' }),
      webhook('again', 'b'),
    )
    assert.deepEqual((await create('again')).data, { seen: 'aba' })
    assert.equal(about('again').length, 3)
  })

  it('receive the request, and return warnings and audit annotations', async () => {
    await configure('Validating', 'told', webhook('told', 'allow'))
    const asSent = { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' }
    await create('told', { asSent })
    await create('told-dry', { dryRun: true })
    const [review, dry] = about('told').map(({ request }) => request)
    assert.deepEqual([review?.options, review?.dryRun], [asSent, false])
    assert.deepEqual([dry?.options, dry?.dryRun], [null, true])
    assert.ok(tenant.shard.warnings.includes('mind the gap'))
    assert.equal(tenant.notes.get('allow.told.example.com/why'), 'because')
  })

  it('receive the first supported version of AdmissionReview', async () => {
    await configure('Mutating', 'old', webhook('old', 'a', { admissionReviewVersions: ['v2', 'v1beta1'] }))
    assert.deepEqual((await create('old')).data, { seen: 'a' })
    assert.equal(about('old')[0]?.apiVersion, 'admission.k8s.io/v1beta1')
  })

  for (const [name, [, why]] of Object.entries(wrong))
    it(`follow failurePolicy for an invalid response: ${name}`, async () => {
      await configure('Mutating', name, webhook(`${name}-closed`, name))
      const status = await refusal(create(`${name}-closed`))
      assert.deepEqual([status.code, status.reason], [500, 'InternalError'])
      assert.match(status.message ?? '', /^Internal error occurred: failed calling webhook "/)
      assert.match(status.message ?? '', why)
      await configure('Mutating', `${name}-2`, webhook(`${name}-open`, name, { failurePolicy: 'Ignore' }))
      await create(`${name}-open`)
    })

  it('follow failurePolicy for a timeout or no response', async () => {
    for (const [path, why] of [
      ['silent', /Post "https:[^"]+\/silent\?timeout=1s": context deadline exceeded$/],
      [
        'broken',
        /failed to call webhook: an error on the server \("unknown"\) has prevented the request from succeeding$/,
      ],
    ] as const) {
      await configure('Validating', path, webhook(`${path}-closed`, path, { timeoutSeconds: 1 }))
      assert.match((await refusal(create(`${path}-closed`))).message ?? '', why)
      const open = webhook(`${path}-open`, path, { timeoutSeconds: 1, failurePolicy: 'Ignore' })
      await configure('Validating', `${path}-2`, open)
      await create(`${path}-open`)
    }
  })

  it('follow failurePolicy when a match condition fails', async () => {
    const matchConditions = [
      { name: 'mine', expression: "object.metadata.name.startsWith('cond')" },
      { name: 'odd', expression: 'object.data.nothing == "x"' },
    ]
    await configure('Validating', 'cond', webhook('cond', 'allow', { matchConditions }))
    assert.match(
      (await refusal(create('cond'))).message ?? '',
      /^configmaps "cond" is forbidden: expression .* resulted in error: no such key: data$/,
    )
    assert.equal(about('cond').length, 0)
    await create('other')
  })

  it('are called for the namespaces and objects that they select', async () => {
    const namespaceSelector = { matchLabels: { team: 'a' } }
    await configure('Validating', 'select', webhook('select', 'allow', { namespaceSelector }))
    await create('select-1')
    assert.equal(about('select').length, 0)
    const labelled = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team', labels: { team: 'a' } },
    }
    await tenant.put(namespaces, labelled)
    await tenant.put(configMaps, {
      ...configMap('select-2'),
      metadata: { name: 'select-2', namespace: 'team' },
    })
    assert.equal(about('select').length, 1)
  })

  it('are refused when they could never be called', async () => {
    const broken = {
      ...webhook('x', 'allow', { timeoutSeconds: 31, sideEffects: 'Some', failurePolicy: 'Perhaps' }),
      name: 'short',
      clientConfig: { url: 'http://example.com/?a=b' },
      matchConditions: [{ name: 'odd', expression: '1 +' }],
      admissionReviewVersions: ['v7'],
      namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'exists' }] },
      rules: [{ apiGroups: [], apiVersions: ['*', 'v1'], operations: ['READ'], resources: ['pods'] }],
    }
    const { details } = await refusal(configure('Validating', 'broken-rules', broken))
    assert.deepEqual(
      details?.causes?.map(({ field, message }) => `${field}: ${message?.split('\n')[0]}`),
      [
        'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
        'webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "exists": not a valid selector operator',
        'webhooks[0].rules[0].apiGroups: Required value',
        `webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
        'webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
        'webhooks[0].failurePolicy: Unsupported value: "Perhaps": supported values: "Fail", "Ignore"',
        'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
        'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
        `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[:port]/path`,
        'webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
        "webhooks[0].matchConditions[0].expression: Invalid value: \"1 +\": compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        'webhooks[0].admissionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1',
      ],
    )
  })

  it('refuses names that exist already', async () => {
    const matchConditions = [
      { name: 'same', expression: 'true' },
      { name: 'same', expression: 'true' },
    ]
    const twice = webhook('twice', 'allow', { matchConditions })
    const { details } = await refusal(configure('Validating', 'twice', twice, twice))
    assert.deepEqual(
      details?.causes?.map(({ field, message }) => `${field}: ${message}`),
      [
        'webhooks[0].matchConditions[1].name: Duplicate value: "same"',
        'webhooks[1].matchConditions[1].name: Duplicate value: "same"',
        'webhooks[1].name: Duplicate value: "allow.twice.example.com"',
      ],
    )
  })
})
