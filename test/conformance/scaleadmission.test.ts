import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, type Kubectl, type Oriel } from '../support/oriel.ts'
import { startServer } from '../support/servers/kcp.ts'
import { serveWebhooks, type Webhooks, webhookFlags } from '../support/servers/webhooks.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { expect, fixture, group, merge, post, put, widget, widgetsIn } from './fixture.ts'

// The input of webhooks and policies for a write to /scale (rules.md 2.58 and 7.59b).

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: {
    readonly uid: string
    readonly object: { readonly spec: { readonly replicas: number } }
    readonly oldObject: { readonly spec: object }
  } & Readonly<Record<string, unknown>>
}

const seen = ({ request }: Review) => {
  const { kind, resource, subResource, requestKind, requestResource, object, oldObject } = request
  const shown = { kind, resource, subResource, requestKind, requestResource, object, oldObject }
  return { allowed: false, status: { message: JSON.stringify(shown) } }
}

const more = ({ request: { object } }: Review) => {
  const patch = [{ op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 10 }]
  const text = Buffer.from(JSON.stringify(patch)).toString('base64')
  return { allowed: true, patchType: 'JSONPatch', patch: text }
}

/** The URL of requests, and the workspace of the webhooks and policies. */
interface Place {
  readonly client: Client
  readonly configure: Kubectl
}

async function inWorkspace(oriel: Oriel): Promise<Place> {
  const [{ kubectl, path }] = (await createWorkspaces(oriel, ['scales'])) as [Tenant]
  await apply(kubectl, fixture)
  await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', fixture.metadata.name ?? ''])
  return { client: await clientOf(configAt(oriel, `${oriel.url}/clusters/${path}`)), configure: kubectl }
}

async function throughView(oriel: Oriel): Promise<Place> {
  const [provider, tenant] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
  const name = await exportApi(provider, fixture, [])
  await bind(tenant, bindingOf(provider, name, []))
  const url = `${await publishedUrl(provider, name)}/clusters/${tenant.cluster}`
  return { client: await clientOf(configAt(oriel, url)), configure: provider.kubectl }
}

const admission = 'admissionregistration.k8s.io/v1'
const writes = (apiVersion: string, ...resources: readonly string[]) => ({
  apiGroups: [group],
  apiVersions: [apiVersion],
  operations: ['UPDATE'],
  resources,
})

const configurationOf = (webhooks: Webhooks, kind: string, path: string, rule: object): KubeObject => ({
  apiVersion: admission,
  kind,
  metadata: { name: path },
  webhooks: [
    {
      name: `${path}.example.com`,
      clientConfig: { url: `${webhooks.url}/${path}`, caBundle: webhooks.caBundle },
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

function cases(prepare: () => Promise<Place>, webhooks: () => Webhooks): void {
  let place: Place
  let count = 0
  before(async () => {
    place = await prepare()
  })
  after(() => place?.client.close())

  const path = widgetsIn('default')
  const created = async (spec: object): Promise<string> => {
    const name = `w${++count}`
    await expect(201, place.client(path, post(widget(name, spec))))
    return name
  }
  const scaleTo = (name: string, replicas: number) =>
    place.client(
      `${path}/${name}/scale`,
      put({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas } }),
    )
  const inEffect = async (isIt: (answer: string, replicas: unknown) => boolean): Promise<string> => {
    const { text } = await eventually(
      async () => {
        const { text } = await scaleTo(await created({ replicas: 1 }), 2)
        return { text, replicas: JSON.parse(text).spec?.replicas as unknown }
      },
      ({ text, replicas }) => isIt(text, replicas),
    )
    return text
  }
  const configured = async (...objects: readonly KubeObject[]): Promise<() => Promise<unknown>> => {
    await apply(place.configure, ...objects)
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
    return () => place.configure(['delete', ...names])
  }

  it('sets replicas of an object without replicas', async () => {
    const [first, second] = [await created({}), await created({})]
    assert.deepEqual((await expect(200, scaleTo(first, 2))).spec, { replicas: 2 })
    const nothing = merge({ metadata: { labels: { a: 'b' } } })
    assert.equal(
      (await expect(400, place.client(`${path}/${second}/scale`, nothing))).message,
      'the spec replicas field ".spec.replicas" cannot be empty',
    )
  })

  it('shows webhooks the Scale, in the version of the rule', async () => {
    const rule = writes('v1beta1', '*/scale')
    const undo = await configured(configurationOf(webhooks(), 'ValidatingWebhookConfiguration', 'seen', rule))
    const message: string = JSON.parse(await inEffect(text => text.includes('denied the request'))).message
    const shown = JSON.parse(message.slice(message.indexOf('{')))
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    assert.deepEqual([shown.kind, shown.requestKind, shown.subResource], [kind, kind, 'scale'])
    assert.deepEqual(shown.resource, { group, version: 'v1beta1', resource: 'widgets' })
    assert.deepEqual(shown.requestResource, { group, version: 'v1', resource: 'widgets' })
    const { apiVersion, kind: name, spec } = shown.object
    assert.deepEqual([apiVersion, name, spec], ['autoscaling/v1', 'Scale', { replicas: 2 }])
    assert.deepEqual(shown.oldObject.spec, { replicas: 1 })
    // Rules without the subresource do not match it, and the other way round.
    await expect(200, place.client(`${path}/${await created({})}`, merge({ spec: { replicas: 4 } })))
    await undo()
  })

  it('lets webhooks change the Scale', async () => {
    const rule = writes('v1', 'widgets/scale')
    const undo = await configured(configurationOf(webhooks(), 'MutatingWebhookConfiguration', 'more', rule))
    await inEffect((_, replicas) => replicas === 12)
    await undo()
  })

  const policy = (kind: string, spec: object): readonly KubeObject[] => [
    {
      apiVersion: admission,
      kind,
      metadata: { name: 'scales' },
      spec: { matchConstraints: { resourceRules: [writes('v1', 'widgets/scale')] }, ...spec },
    },
    {
      apiVersion: admission,
      kind: `${kind}Binding`,
      metadata: { name: 'scales' },
      spec: { policyName: 'scales', ...(kind.startsWith('Val') ? { validationActions: ['Deny'] } : {}) },
    },
  ]

  it('shows policies the Scale', async () => {
    const said = `object.apiVersion + ' ' + object.kind + ' from ' + string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' by ' + request.subResource`
    const validations = [{ expression: 'false', messageExpression: said }]
    const undo = await configured(...policy('ValidatingAdmissionPolicy', { validations }))
    await inEffect(text => text.includes('autoscaling/v1 Scale from 1 to 2 by scale'))
    await undo()
  })

  if (!process.env.KCP_BIN)
    it('lets policies change the Scale', async () => {
      const expression = 'Object{spec: Object.spec{replicas: 7}}'
      const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
      const spec = { reinvocationPolicy: 'Never', mutations }
      const undo = await configured(...policy('MutatingAdmissionPolicy', spec))
      await inEffect((_, replicas) => replicas === 7)
      await undo()
    })
}

describe('admission of writes to /scale', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let webhooks: Webhooks
  before(async () => {
    oriel = await startServer(webhookFlags)
    webhooks = await serveWebhooks<Review>({ '/seen': seen, '/more': more })
  })
  after(async () => {
    webhooks.close()
    await discard(oriel)
  })

  describe('in a workspace with a CRD', () =>
    cases(
      () => inWorkspace(oriel),
      () => webhooks,
    ))
  if (!process.env.KCP_BIN)
    describe('through the apiexport view', () =>
      cases(
        () => throughView(oriel),
        () => webhooks,
      ))
})
