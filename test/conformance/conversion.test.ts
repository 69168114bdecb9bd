import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { eventually, type Kubectl, type Oriel } from '../support/oriel.ts'
import type { Answers, Webhooks } from '../support/servers/webhooks.ts'
import { openWebhookScene, type WebhookScene } from '../support/servers/webhookscene.ts'
import { apply, bind, bindingOf, exportApi, publishedUrl, type Tenant } from '../support/tenants.ts'
import { configAt, watch } from '../support/watcher.ts'
import { type Spec, specIn, thing, thingsOf, versionOf } from './things.ts'

// Conversion webhooks through the running server (rules.md 4.60, 7.42 and 7.43).

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly KubeObject[]
  }
}

/** Converts an object, also with unknown fields, and records its version. */
function converted(object: KubeObject, apiVersion: string): KubeObject {
  const known = specIn(object, apiVersion)
  const spec = apiVersion.endsWith('/v1') ? { ...known, unknown: 'x' } : known
  const annotations = { ...object.metadata.annotations, 'example.com/from': object.apiVersion.slice(-2) }
  return { ...object, apiVersion, spec, metadata: { ...object.metadata, annotations } }
}

const all = ({ request: { objects, desiredAPIVersion } }: Review): readonly KubeObject[] =>
  objects.map(object => converted(object, desiredAPIVersion))
const success = (convertedObjects: readonly object[]) => ({ convertedObjects, result: { status: 'Success' } })

/** A defect of a webhook, and the error that clients get. */
const failures: readonly (readonly [name: string, answer: Answers<Review>[string], why: RegExp])[] = [
  ['failed', () => ({ result: { status: 'Failed', message: 'not today' } }), / failed: not today/],
  ['mute', () => ({ result: {} }), / failed: response.result.status was '', not 'Success'/],
  [
    'uid',
    review => ({ uid: 'other', ...success(all(review)) }),
    / failed: expected response.uid="[-0-9a-f]{36}", got "other"/,
  ],
  [
    'fewer',
    () => success([]),
    /conversion for fewer.example.com\/v1, Kind=Thing returned 0 objects, expected 1/,
  ],
  [
    'lazy',
    ({ request }) => success(request.objects),
    /returned invalid converted object at index 1: invalid groupVersion \(expected lazy.example.com\/v2, received lazy.example.com\/v1\)/,
  ],
  [
    'renamed',
    review => success(all(review).map(o => ({ ...o, metadata: { ...o.metadata, name: 'other' } }))),
    /invalid converted object at index 1: must have the same name: b != other/,
  ],
  [
    'kind',
    review => success(all(review).map(o => ({ ...o, kind: 'Other' }))),
    /invalid converted object at index 1: invalid kind \(expected Thing, received Other\)/,
  ],
  [
    'label',
    review => success(all(review).map(o => ({ ...o, metadata: { ...o.metadata, labels: { 'a b': '1' } } }))),
    /returned invalid metadata in object at index 1: metadata.labels: Invalid value: "a b": name part must consist of/,
  ],
  [
    'broken',
    () => 500,
    /conversion for broken.example.com\/v1, Kind=Thing failed: conversion webhook for \/, Kind= failed: an error on the server \("unknown"\) has prevented the request from succeeding/,
  ],
]

const answers: Answers<Review> = {
  '/good': review => success(all(review)),
  ...Object.fromEntries(failures.map(([name, answer]) => [`/${name}`, answer])),
}

const text = { type: 'string' }
interface Shape {
  readonly group?: string
  readonly stored?: 'v1' | 'v2'
}

function definition(
  webhooks: Webhooks,
  path: string,
  { group = `${path}.example.com`, stored = 'v2' }: Shape = {},
): KubeObject {
  const versions = [
    versionOf('v1', { host: text, port: { ...text, maxLength: 5 } }, { storage: stored === 'v1' }),
    versionOf('v2', { address: text }, { storage: stored === 'v2' }),
  ]
  return thingsOf(group, versions, webhooks, path)
}

describe('conversion webhooks', function () {
  this.timeout(180_000)
  let scene: WebhookScene
  let oriel: Oriel
  let tenant: Tenant
  let provider: Tenant
  let kubectl: Kubectl
  let webhooks: Webhooks

  before(async () => {
    scene = await openWebhookScene('conversion', answers)
    ;({ oriel, tenant, provider, kubectl, webhooks } = scene)
  })
  after(() => scene?.close())

  const create = (object: KubeObject): Promise<string> =>
    kubectl(['create', '-f', '-'], JSON.stringify(object))
  const specs = async (resource: string, at = kubectl): Promise<Readonly<Record<string, Spec>>> => {
    const { items } = await at.json<{ items: readonly KubeObject[] }>(['get', resource])
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec as Spec]))
  }

  async function define(path: string): Promise<void> {
    await apply(kubectl, definition(webhooks, path))
    await kubectl(['wait', '--for=condition=Established', `crd/things.${path}.example.com`])
    const stored = thing(`${path}.example.com/v2`, 'a', { address: 'h:1' })
    await eventually(
      () => create(stored).catch(String),
      said => said.includes('created') || said.includes('AlreadyExists'),
    )
  }

  it('return objects in the requested version, in whichever version they were written', async () => {
    await define('good')
    await create(thing('good.example.com/v1', 'b', { host: 'h', port: '2' }))
    assert.deepEqual(await specs('things.v1.good.example.com'), {
      a: { host: 'h', port: '1' },
      b: { host: 'h', port: '2' },
    })
    assert.deepEqual(await specs('things.v2.good.example.com'), {
      a: { address: 'h:1' },
      b: { address: 'h:2' },
    })
    const b = await kubectl.json<KubeObject>(['get', 'things.v2.good.example.com', 'b'])
    assert.equal(b.metadata.annotations?.['example.com/from'], 'v1')
    const crd = await kubectl.json<KubeObject>(['get', 'crd', 'things.good.example.com'])
    assert.deepEqual((crd.status as { storedVersions: unknown }).storedVersions, ['v2'])
  })

  it('accept changes in any version, and validate them by its schema', async () => {
    const patch = (body: object) =>
      kubectl(['patch', 'things.v1.good.example.com', 'a', '--type=merge', '-p', JSON.stringify(body)])
    const before = await kubectl.json<KubeObject>(['get', 'things.v2.good.example.com', 'a'])
    await patch({ spec: { port: '7' } })
    const after = await kubectl.json<KubeObject>(['get', 'things.v2.good.example.com', 'a'])
    assert.deepEqual(after.spec, { address: 'h:7' })
    assert.equal(after.metadata.uid, before.metadata.uid)
    assert.equal(after.metadata.generation, 2)
    await assert.rejects(
      patch({ spec: { port: '123456' } }),
      /spec.port: Too long: may not be more than 5 bytes/,
    )
    await kubectl(
      ['apply', '--server-side', '--field-manager=me', '-f', '-'],
      JSON.stringify(thing('good.example.com/v1', 'c', { host: 'x', port: '9' })),
    )
    assert.equal((await specs('things.v2.good.example.com')).c?.address, 'x:9')
    await kubectl(['delete', 'things.v1.good.example.com', 'c'])
  })

  it('send events in the version of the watch', async () => {
    const config = configAt(oriel, `${oriel.url}/clusters/${tenant.path}`)
    const watcher = await watch(config, '/apis/good.example.com/v1/things', {
      watch: true,
      resourceVersion: '0',
    })
    await create(thing('good.example.com/v2', 'd', { address: 'w:1' }))
    const { object } = await watcher.next(
      event => event.type === 'ADDED' && event.object.metadata?.name === 'd',
    )
    assert.deepEqual(
      [object.apiVersion, (object as { spec?: unknown }).spec],
      ['good.example.com/v1', { host: 'w', port: '1' }],
    )
    await kubectl(['delete', 'things.v2.good.example.com', 'd'])
    const gone = await watcher.next(event => event.type === 'DELETED')
    assert.equal(gone.object.apiVersion, 'good.example.com/v1')
    watcher.stop()
  })

  it('serve objects of older storage versions after the storage version has moved', async () => {
    await apply(kubectl, definition(webhooks, 'good', { stored: 'v1' }))
    const crd = await eventually(
      () => kubectl.json<KubeObject>(['get', 'crd', 'things.good.example.com']),
      ({ status }) => (status as { storedVersions: readonly string[] }).storedVersions.length === 2,
    )
    assert.deepEqual((crd.status as { storedVersions: unknown }).storedVersions, ['v2', 'v1'])
    await create(thing('good.example.com/v2', 'e', { address: 'e:1' }))
    for (const [version, spec] of [
      ['v1', { host: 'e', port: '1' }],
      ['v2', { address: 'e:1' }],
    ] as const)
      assert.deepEqual((await specs(`things.${version}.good.example.com`)).e, spec)
    assert.deepEqual((await specs('things.v1.good.example.com')).a, { host: 'h', port: '7' })
  })

  it('convert bound resources, also for the provider', async () => {
    const group = 'bound.example.com'
    await exportApi(provider, definition(webhooks, 'good', { group }), [])
    await bind(tenant, bindingOf(provider, group, []))
    await eventually(
      () => create(thing(`${group}/v1`, 'f', { host: 'f', port: '3' })).catch(String),
      said => said.includes('created'),
    )
    assert.deepEqual((await specs(`things.v2.${group}`)).f, { address: 'f:3' })
    const view = provider.kubectl.at(`${await publishedUrl(provider, group)}/clusters/*`)
    for (const [version, spec] of [
      ['v1', { host: 'f', port: '3' }],
      ['v2', { address: 'f:3' }],
    ] as const) {
      const list = JSON.parse(
        await view(['get', '--raw', `${await pathOf(provider, group)}/${version}/things`]),
      )
      assert.deepEqual(list.items[0].spec, spec)
    }
  })

  it('convert regardless of an APIConversion: kcp stores its rules without using them', async () => {
    const conversionOf = (rules: readonly object[]): KubeObject => ({
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIConversion',
      metadata: { name: 'v1.things.bound.example.com' },
      spec: { conversions: [{ from: 'v1', to: 'v2', rules }] },
    })
    const rule = { field: '.spec.host', destination: '.spec.address', transformation: 'self + "!"' }
    await apply(provider.kubectl, conversionOf([rule]))
    const kept = await provider.kubectl.json<KubeObject>([
      'get',
      'apiconversion',
      'v1.things.bound.example.com',
    ])
    assert.deepEqual(kept.spec, conversionOf([rule]).spec)
    await assert.rejects(
      apply(provider.kubectl, conversionOf([{ field: '.spec.host' }])),
      /spec.conversions\[0\].rules\[0\].destination: Required value/,
    )
    await create(thing('bound.example.com/v1', 'g', { host: 'g', port: '4' }))
    assert.equal((await specs('things.v2.bound.example.com')).g?.address, 'g:4')
  })

  const pathOf = async (of: Tenant, group: string): Promise<string> =>
    `${new URL(await publishedUrl(of, group)).pathname}/clusters/*/apis/${group}`

  it('are called at the host of their Service', async () => {
    const service = { name: 'convert', namespace: 'default', path: '/things' }
    const crd = definition(webhooks, 'service')
    const spec = crd.spec as { conversion: { webhook: object } }
    const webhook = { ...spec.conversion.webhook, clientConfig: { service } }
    await apply(kubectl, { ...crd, spec: { ...spec, conversion: { ...spec.conversion, webhook } } })
    await eventually(
      () => create(thing('service.example.com/v1', 'a', { host: 'h', port: '1' })).catch(String),
      said =>
        /Kind= failed: Post "https:\/\/convert.default.svc:443\/things\?timeout=30s": dial tcp: lookup convert.default.svc/.test(
          said,
        ),
    )
  })

  for (const [name, , why] of failures)
    it(`report their error: ${name}`, async () => {
      await define(name)
      const refused = create(thing(`${name}.example.com/v1`, 'b', { host: 'h', port: '2' }))
      await assert.rejects(refused, why)
      await assert.rejects(
        kubectl(['get', `things.v1.${name}.example.com`, 'a']),
        /conversion for [a-z.]+\/v2, Kind=Thing/,
      )
      assert.deepEqual(await specs(`things.v2.${name}.example.com`), { a: { address: 'h:1' } })
    })
})
