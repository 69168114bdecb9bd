import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { discard, eventually, type Kubectl, type Oriel } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import { type Answers, serveWebhooks, type Webhooks, webhookFlags } from '../support/servers/webhooks.ts'
import { apply, createWorkspaces, type Tenant } from '../support/tenants.ts'
import { configAt, watch } from '../support/watcher.ts'
import { type Spec, specIn, thing, thingsOf, versionOf } from './things.ts'

// The input of admission and selectors for a kind with several versions (rules.md 2.58 and 3.35).

interface Kind {
  readonly version: string
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly kind: Kind
    readonly requestKind: Kind
    readonly object: KubeObject | null
    readonly oldObject: KubeObject | null
    /** Of a ConversionReview. */
    readonly desiredAPIVersion: string
    readonly objects: readonly KubeObject[]
  }
}

const group = 'versions.example.com'
const things = (version: string): string => `things.${version}.${group}`

const converted = (object: KubeObject, apiVersion: string): KubeObject => ({
  ...object,
  apiVersion,
  spec: specIn(object, apiVersion),
})

const shown = (object: KubeObject | null): string =>
  object === null ? 'null' : `${object.apiVersion.slice(-2)} ${JSON.stringify(object.spec)}`

let conversions = 0

const answers: Answers<Review> = {
  '/convert': ({ request: { objects, desiredAPIVersion } }) => {
    conversions++
    return {
      convertedObjects: objects.map(object => converted(object, desiredAPIVersion)),
      result: { status: 'Success' },
    }
  },
  '/look': ({ request: { kind, requestKind, object, oldObject } }) => ({
    allowed: false,
    status: { message: [kind.version, requestKind.version, shown(object), shown(oldObject)].join(', ') },
  }),
  '/move': ({ request: { object } }) => {
    const { address } = (object?.spec ?? {}) as Spec
    const operation = { op: 'replace', path: '/spec/address', value: `moved-${address}` }
    const patch = Buffer.from(JSON.stringify([operation])).toString('base64')
    return { allowed: true, patchType: 'JSONPatch', patch }
  },
}

const text = { type: 'string' }
const versions = [
  versionOf(
    'v1',
    { host: text, port: text },
    { storage: false, selectableFields: [{ jsonPath: '.spec.host' }] },
  ),
  versionOf('v2', { address: text }, { storage: true, selectableFields: [{ jsonPath: '.spec.address' }] }),
]

describe('a kind of several versions', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let tenant: Tenant
  let kubectl: Kubectl
  let webhooks: Webhooks

  before(async () => {
    oriel = await startServer(webhookFlags)
    webhooks = await serveWebhooks(answers)
    const [first] = await createWorkspaces(oriel, ['versions'])
    assert.ok(first)
    tenant = first
    kubectl = tenant.kubectl
    await apply(kubectl, thingsOf(group, versions, webhooks, 'convert'))
    await kubectl(['wait', '--for=condition=Established', `crd/things.${group}`])
    await eventually(
      () => apply(kubectl, thing(`${group}/v1`, 'first', { host: 'h', port: '1' })).catch(String),
      said => said.includes('created'),
    )
  })
  after(async () => {
    webhooks.close()
    await discard(oriel)
  })

  const create = (object: KubeObject): Promise<string> =>
    kubectl(['create', '-f', '-'], JSON.stringify(object)).catch(String)

  /** Creates objects until a response satisfies the condition. */
  async function createdSaying(name: string, said: string): Promise<void> {
    let count = 0
    await eventually(
      () => create(thing(`${group}/v1`, `${name}-${count++}`, { host: 'h', port: '1' })),
      answer => answer.includes(said),
    )
  }

  const rule = (...apiVersions: readonly string[]) => ({
    apiGroups: [group],
    apiVersions,
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['things'],
  })

  const configure = (kind: 'Mutating' | 'Validating', name: string, path: string, more: object) =>
    apply(kubectl, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: { url: `${webhooks.url}/${path}`, caBundle: webhooks.caBundle },
          matchConditions: [
            { name: 'mine', expression: `has(request.name) && request.name.startsWith('${name}')` },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          ...more,
        },
      ],
    })

  it('is seen by a webhook in the version of the request, if its rules name that', async () => {
    await configure('Validating', 'own', 'look', { rules: [rule('v2', 'v1')] })
    await createdSaying('own', 'denied the request: v1, v1, v1 {"host":"h","port":"1"}, null')
  })

  it('is seen in a version that the rules name, if equivalent requests count', async () => {
    await configure('Validating', 'equal', 'look', { rules: [rule('v2')] })
    await createdSaying('equal', 'denied the request: v2, v1, v2 {"address":"h:1"}, null')
  })

  it('is not seen at all where no rule names the version exactly', async () => {
    await configure('Validating', 'exact', 'look', { rules: [rule('v2')], matchPolicy: 'Exact' })
    await configure('Validating', 'none', 'look', { rules: [rule('v9')] })
    await configure('Validating', 'exact-later', 'look', { rules: [rule('v1')], matchPolicy: 'Exact' })
    await createdSaying('exact-later', 'denied the request: v1, v1')
    assert.match(await create(thing(`${group}/v1`, 'exact', { host: 'h', port: '1' })), /created/)
    assert.match(await create(thing(`${group}/v1`, 'none', { host: 'h', port: '1' })), /created/)
  })

  it('is changed in the version of the rule, and stored after conversion', async () => {
    await configure('Mutating', 'moved', 'move', {
      rules: [{ ...rule('v2'), operations: ['CREATE'] }],
    })
    let count = 0
    const spec = await eventually(
      async () => {
        const name = `moved-${count++}`
        await create(thing(`${group}/v1`, name, { host: 'h', port: '1' }))
        return (await kubectl.json<KubeObject>(['get', things('v1'), name])).spec as Spec
      },
      ({ host }) => host !== 'h',
    )
    assert.deepEqual(spec, { host: 'moved-h', port: '1' })
  })

  it('has its old state in the same version as the new one', async () => {
    await create(thing(`${group}/v1`, 'kept', { host: 'h', port: '1' }))
    await configure('Validating', 'kept', 'look', { rules: [rule('v2')] })
    const patch = ['patch', things('v1'), 'kept', '--type=merge', '-p', '{"spec":{"port":"2"}}']
    await eventually(
      () => kubectl(patch).catch(String),
      said => said.includes('v2, v1, v2 {"address":"h:2"}, v2 {"address":"h:1"}'),
    )
    await assert.rejects(kubectl(['delete', things('v1'), 'kept']), /v2, v1, null, v2 {"address":"h:[12]"}/)
  })

  it('is the input of policies', async () => {
    const policy = (name: string, versions: readonly string[], expression: string): KubeObject[] => [
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: {
          matchConstraints: { resourceRules: [rule(...versions)] },
          matchConditions: [
            { name: 'mine', expression: `has(request.name) && request.name.startsWith('${name}')` },
          ],
          validations: [{ expression: 'false', messageExpression: expression }],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    ]
    const seen = `request.kind.version + ' ' + request.requestKind.version + ' ' + object.apiVersion + ' '`
    await apply(kubectl, ...policy('strict', ['v1'], `${seen} + object.spec.host`))
    await apply(kubectl, ...policy('loose', ['v2'], `${seen} + object.spec.address`))
    await createdSaying('strict', `denied request: v1 v1 ${group}/v1 h`)
    await createdSaying('loose', `denied request: v2 v1 ${group}/v2 h:1`)
  })

  it('is selected by the fields of the requested version', async () => {
    await create(thing(`${group}/v1`, 'selected', { host: 'there', port: '7' }))
    const names = async (version: string, selector: string): Promise<string> =>
      kubectl(['get', things(version), '-o', 'name', '--field-selector', selector])
    assert.equal(await names('v1', 'spec.host=there'), `thing.${group}/selected\n`)
    assert.equal(await names('v2', 'spec.address=there:7'), `thing.${group}/selected\n`)
    assert.equal(await names('v1', 'spec.host=there,metadata.name=other'), '')
    await assert.rejects(names('v1', 'spec.address=there:7'), /field label not supported: spec.address/)
  })

  it('is watched by the fields of the requested version', async () => {
    const config = configAt(oriel, `${oriel.url}/clusters/${tenant.path}`)
    const watcher = await watch(config, `/apis/${group}/v1/things`, {
      watch: true,
      resourceVersion: '0',
      fieldSelector: 'spec.host=watched',
    })
    await create(thing(`${group}/v1`, 'other', { host: 'h', port: '1' }))
    await create(thing(`${group}/v1`, 'watched', { host: 'watched', port: '1' }))
    await kubectl(['patch', things('v2'), 'watched', '--type=merge', '-p', '{"spec":{"address":"gone:1"}}'])
    const left = await watcher.next(event => event.type === 'DELETED')
    assert.deepEqual(
      watcher.seen.map(({ type, object }) => `${type} ${object.metadata?.name}`),
      ['ADDED watched', 'DELETED watched'],
    )
    assert.equal(left.object.apiVersion, `${group}/v1`)
    watcher.stop()
  })

  const applied = (object: KubeObject): Promise<string> =>
    kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object))

  it('is applied in another version than before', async () => {
    await applied(thing(`${group}/v1`, 'applied', { host: 'h', port: '1' }))
    await applied(thing(`${group}/v2`, 'applied', { address: 'h:2' }))
    assert.deepEqual((await kubectl.json<KubeObject>(['get', things('v1'), 'applied'])).spec, {
      host: 'h',
      port: '2',
    })
    const other = ['apply', '--server-side', '--field-manager=other', '-f', '-']
    const changed = JSON.stringify(thing(`${group}/v1`, 'applied', { host: 'x', port: '2' }))
    await assert.rejects(kubectl(other, changed), /conflict with "kubectl".*: .spec.address/)
  })

  it('is converted a few times by an apply, however many managers it has', async () => {
    await applied(thing(`${group}/v1`, 'managed', { host: 'h', port: '1' }))
    const get = ['get', things('v1'), 'managed', '--show-managed-fields']
    const { managedFields = [] } = (await kubectl.json<KubeObject>(get)).metadata
    const [own = {}] = managedFields as readonly object[]
    const fieldsV1 = { 'f:spec': { 'f:host': {} } }
    const others = Array.from({ length: 100 }, (_, i) => ({ ...own, manager: `m${i}`, fieldsV1 }))
    const patch = JSON.stringify({ metadata: { managedFields: [own, ...others] } })
    await kubectl(['patch', things('v1'), 'managed', '--type=merge', '-p', patch])
    conversions = 0
    await applied(thing(`${group}/v2`, 'managed', { address: 'h:2' }))
    assert.ok(conversions < 30, `${conversions} conversions`)
    const { metadata } = await kubectl.json<KubeObject>(get)
    assert.equal((metadata.managedFields as readonly object[]).length, 101)
  })

  it('keeps the resources of an export that is applied in another version than before', async () => {
    const exported = (version: string, spec: object) => ({
      apiVersion: `apis.kcp.io/${version}`,
      kind: 'APIExport',
      metadata: { name: 'applied' },
      spec,
    })
    const schema = 'v1.things.example.org'
    const resource = { group: 'example.org', name: 'things', schema, storage: { crd: {} } }
    await applied(exported('v1alpha2', { resources: [resource] }))
    await applied(exported('v1alpha1', { latestResourceSchemas: [schema] }))
    const found = await kubectl.json<KubeObject>(['get', 'apiexports.v1alpha2.apis.kcp.io', 'applied'])
    assert.deepEqual((found.spec as Spec & { resources: unknown }).resources, [resource])
    await applied(exported('v1alpha2', { resources: [resource] }))
  })

  it('is deleted by the fields of the requested version', async () => {
    await create(thing(`${group}/v1`, 'doomed', { host: 'doomed', port: '1' }))
    const query = '?fieldSelector=spec.host%3Ddoomed'
    await kubectl(['delete', '--raw', `/clusters/${tenant.path}/apis/${group}/v1/things${query}`])
    assert.equal(await kubectl(['get', things('v2'), 'doomed', '--ignore-not-found']), '')
    assert.match(await kubectl(['get', things('v2'), 'first', '-o', 'name']), /first/)
  })
})
