import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { everything, ownView } from './testing/scene.ts'
import { isSilent, TenantScene } from './testing/tenant.ts'
import type { ViewResource } from './types.ts'

const text = { type: 'string' }
const storageVersion = (name: string, spec: object) => ({
  name,
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { color: text, ...spec } } },
    },
  },
})
const servedVersion = (name: string, spec: object) => ({ ...storageVersion(name, spec), storage: false })
const definition = (...versions: readonly object[]): KubeObject =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      scope: 'Namespaced',
      versions,
    },
  }) as KubeObject
const both = { token: text, key: text }
const [first, second] = [storageVersion('v1', both), servedVersion('v2', both)]

const thing = (name: string, apiVersion: string): KubeObject =>
  ({
    apiVersion: `example.com/${apiVersion}`,
    kind: 'Thing',
    metadata: { name, namespace: 'default' },
    spec: { color: 'red', token: 'sesame', key: 'topsecret' },
  }) as KubeObject

const things: ViewResource = {
  group: 'example.com',
  resource: 'things',
  version: 'v1',
  verbs: everything,
  where: "object.spec.color == 'red'",
  hide: ['spec.token', 'spec.key'],
}
const at = (apiVersion: string, rest = '') =>
  `/services/views/one/red/clusters/one/apis/example.com/${apiVersion}/namespaces/default/things${rest}`
const stored = '/clusters/one/apis/example.com'
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

describe('a tenant who reads a kind with two versions through a View', () => {
  let tenant: TenantScene
  beforeEach(async () => {
    tenant = await TenantScene.start()
    await tenant.scene.oriel.cluster('one', definition(first, second))
    for (const [name, apiVersion] of [
      ['a', 'v1'],
      ['b', 'v2'],
    ] as const) {
      const path = `${stored}/${apiVersion}/namespaces/default/things?fieldManager=${name}`
      const made = await tenant.scene.admin.request(path, { method: 'POST', body: thing(name, apiVersion) })
      assert.equal(made.status, 201, made.text)
    }
    const { status } = await tenant.scene.view(ownView('red', things))
    assert.ok(
      status?.conditions?.every(condition => condition.status === 'True'),
      JSON.stringify(status),
    )
  })
  afterEach(() => tenant.scene.oriel.close())

  it('sees nothing hidden of objects that were written in another version, nor their owners', async () => {
    const { status, text, object } = await tenant.send('GET', at('v1'))
    assert.deepEqual([status, object?.items?.length], [200, 2], text)
    isSilent(text)
    assert.doesNotMatch(text, /f:token|f:key/)
    // Of fields of another version nothing is known.
    assert.doesNotMatch(text, /example\.com\/v2/)
  })

  it('sees nothing of what kubectl applied in another version, whose fields have other names, and keeps it', async () => {
    const config = { apiVersion: 'example.com/v2', kind: 'Thing', spec: { auth: { secret: 'topsecret' } } }
    const annotations = { [lastApplied]: JSON.stringify(config), note: 'kept' }
    const plain = `${stored}/v1/namespaces/default/things/b`
    const merge = (path: string, body: object) =>
      tenant.send('PATCH', path, body, 'application/merge-patch+json')
    await tenant.scene.admin.request(plain, { method: 'PATCH', body: { metadata: { annotations } } })
    for (const rest of ['', '/b']) {
      const { status, text } = await tenant.send('GET', at('v1', rest))
      assert.equal(status, 200, text)
      assert.match(text, /"note":"kept"/)
      isSilent(text)
    }
    const { status, text } = await merge(at('v1', '/b'), { metadata: { labels: { more: 'yes' } } })
    assert.equal(status, 200, text)
    isSilent(text)
    const { object } = await tenant.scene.admin.request(plain)
    assert.equal(object?.metadata?.annotations?.[lastApplied], annotations[lastApplied])
  })

  for (const [method, rest, body] of [
    ['GET', '', undefined],
    ['GET', '/b', undefined],
    ['GET', '?watch=true', undefined],
    ['DELETE', '/b', undefined],
    ['POST', '', thing('c', 'v2')],
    ['PATCH', '/b', { spec: { token: 'mine' } }],
  ] as const)
    it(`finds no other version by ${method} things${rest}`, async () => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : undefined
      const { status, text } = await tenant.send(method, at('v2', rest), body, type)
      assert.equal(status, 404, text)
      isSilent(text)
    })

  it('cannot send the other version to the one of the View', async () => {
    const applied = { ...thing('b', 'v2'), spec: { color: 'red', token: 'mine' } }
    for (const [method, path, type] of [
      ['POST', at('v1'), undefined],
      ['PUT', at('v1', '/b'), undefined],
      ['PATCH', at('v1', '/b?fieldManager=ada&force=true'), 'application/apply-patch+yaml'],
      ['PATCH', at('v1', '/b'), 'application/merge-patch+json'],
    ] as const) {
      const { status, text } = await tenant.send(method, path, applied, type)
      assert.ok(status >= 400 && status < 500, `${method} ${status} ${text}`)
      isSilent(text)
    }
    const { object } = await tenant.scene.admin.request(`${stored}/v2/namespaces/default/things/b`)
    assert.deepEqual((object as never as { spec: object }).spec, thing('b', 'v2').spec ?? {})
  })

  it('gets nothing when the preferred version becomes one that does not know the hidden fields', async () => {
    const { version: _, ...preferred } = things
    const redefine = async (object: KubeObject) => {
      const path = '/clusters/one/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com'
      const { status, text } = await tenant.scene.admin.request(path, { method: 'PATCH', body: object })
      assert.equal(status, 200, text)
    }
    await redefine(definition(first))
    await tenant.scene.view(ownView('red', preferred))
    assert.equal((await tenant.send('GET', at('v1'))).status, 200)
    const renamed = servedVersion('v2', { secret: text })
    await redefine(definition(first, renamed))
    const isRefused = (condition: { readonly type: string; readonly status: string }) =>
      condition.type === 'ExpressionsValid' && condition.status === 'False'
    const view = await tenant.scene.status('red', ({ status }) => (status?.conditions ?? []).some(isRefused))
    const message = view.status?.conditions?.find(isRefused)?.message ?? ''
    assert.match(message, /spec\.resources\[0\]\.hide\[0\]/)
    for (const of of ['v1', 'v2']) {
      const { status, text } = await tenant.send('GET', at(of))
      assert.ok([403, 404].includes(status), `${status} ${text}`)
      isSilent(text)
    }
  })
})
