import assert from 'node:assert/strict'
import type { KubeObject } from '../../../../framework/index.ts'
import { apiResourceSchemaOf } from '../../../support/crds.ts'
import { discard, eventually } from '../../../support/oriel.ts'
import { cachedResource, region, regions, virtualExport } from '../../../support/published.ts'
import { apply, bind, bindingOf, rolesFor } from '../../../support/tenants.ts'
import { userAt, watch } from '../../../support/watcher.ts'
import { ViewScene } from './scene.ts'

const view = (source: object, more: object = {}): KubeObject => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name: 'public' },
  spec: {
    source,
    resources: [
      {
        group: 'example.com',
        resource: 'regions',
        verbs: ['get', 'list', 'watch'],
        where: "'public' in object.metadata.labels",
        hide: ['spec.zone'],
        ...more,
      },
    ],
  },
})

/** An export whose storage is the View with this uid. */
function exportOf(uid: string): KubeObject {
  const [apiExport] = virtualExport(uid, {})
  const text = JSON.stringify(apiExport)
    .replace('"cache.kcp.io"', '"views.oriel.dev"')
    .replace('"ClusterCachedResourceEndpointSlice"', '"View"')
    .replace('"name":"regions"}}}', '"name":"public"}}}')
  return JSON.parse(text) as KubeObject
}

const path = '/apis/example.com/v1/regions'

describe('an export whose resource is a View', function () {
  this.timeout(120_000)
  let scene: ViewScene
  before(async () => {
    scene = await ViewScene.start()
    const { provider } = scene
    await apply(provider, regions, apiResourceSchemaOf(regions, 'v1'))
    await provider(['wait', '--for=condition=Established', '--timeout=60s', 'crd/regions.example.com'])
    await apply(provider, region('east', { public: 'yes' }), region('west'))
    await scene.view(view({ cluster: '.' }))
    const uid = await provider(['get', 'view', 'public', '-o', 'jsonpath={.metadata.uid}'])
    await apply(provider, exportOf(uid))
    const tenant = { path: 'root:provider', cluster: '', kubectl: provider }
    await bind(scene.consumers.red, bindingOf(tenant, 'example.com', []))
  })
  after(() => discard(scene.oriel))

  it('gives consumers a read-only copy of what the View shows', async () => {
    const { kubectl, cluster } = scene.consumers.red
    const { items } = await eventually(
      () => kubectl.json<{ items: readonly KubeObject[] }>(['get', 'regions']),
      found => found.items.length > 0,
    )
    assert.deepEqual(
      items.map(({ metadata, spec }) => [metadata.name, metadata.annotations?.['kcp.io/cluster'], spec]),
      [['east', cluster, {}]],
    )
    const { stderr } = await kubectl(['delete', 'region', 'east']).then(
      () => ({ stderr: '' }),
      (error: Error) => ({ stderr: error.message }),
    )
    assert.match(stderr, /MethodNotAllowed|does not allow this method/)
  })

  it('is not written by a user who may write exports, to read the View in a workspace of their own', async () => {
    const { provider } = scene
    const writes = ['apis.kcp.io', 'cache.kcp.io'].map(group => ({
      ...{ apiGroups: [group], resources: ['*'], verbs: ['*'] },
    }))
    await apply(provider, ...rolesFor('mallory', ...writes))
    const uid = await provider(['get', 'view', 'public', '-o', 'jsonpath={.metadata.uid}'])
    const stolen = { ...exportOf(uid), metadata: { name: 'stolen' } }
    const created = (object: KubeObject) =>
      provider.try(['create', '--as=mallory', '-f', '-'], JSON.stringify(object))
    const why = /only what you can read: get on (views\/content.views.oriel.dev "public"|regions.example.com)/
    for (const object of [stolen, cachedResource('stolen', {})]) {
      const { stderr } = await eventually(
        () => created(object),
        each => !/access denied/.test(each.stderr),
      )
      assert.match(stderr, why)
    }
  })

  it('shows consumers what enters and leaves the View', async () => {
    const { provider, consumers } = scene
    const lists = { apiGroups: ['example.com'], resources: ['regions'], verbs: ['list', 'watch'] }
    await apply(consumers.red.kubectl, ...rolesFor('ada', lists))
    const config = userAt(scene.oriel, `${scene.oriel.url}/clusters/root:red`, 'ada-token')
    const watcher = await watch(config, path)
    await watcher.next(({ object }) => object.metadata?.name === 'east')
    await provider(['label', 'region', 'west', 'public=yes'])
    await watcher.next(({ type, object }) => type === 'ADDED' && object.metadata?.name === 'west')
    await provider(['label', 'region', 'west', 'public-'])
    await watcher.next(({ type, object }) => type === 'DELETED' && object.metadata?.name === 'west')
    watcher.stop()
  })

  it('ends watches of consumers when the View changes or is removed', async () => {
    const { provider } = scene
    const config = userAt(scene.oriel, `${scene.oriel.url}/clusters/root:red`, 'ada-token')
    const isExpired = ({ type, object }: { type: string; object: object }) =>
      type === 'ERROR' && (object as { code?: number }).code === 410
    const changed = await watch(config, path)
    await changed.next(({ object }) => object.metadata?.name === 'east')
    await scene.view(view({ cluster: '.' }, { hide: [] }))
    await changed.next(isExpired)
    const removed = await watch(config, path)
    await removed.next(({ object }) => object.metadata?.name === 'east')
    await provider(['delete', 'view', 'public'])
    await removed.next(isExpired)
    await scene.view(view({ cluster: '.' }))
    const { stderr } = await scene.consumers.red.kubectl.try(['get', 'regions'])
    assert.match(stderr, /contact APIExport owner/, 'another View of the same name')
    const uid = await provider(['get', 'view', 'public', '-o', 'jsonpath={.metadata.uid}'])
    await apply(provider, exportOf(uid))
    await eventually(
      () => scene.consumers.red.kubectl.try(['get', 'regions']),
      ({ code }) => code === 0,
    )
  })

  it('is refused with what the provider has to change', async () => {
    const { provider, consumers } = scene
    const message = () =>
      consumers.red.kubectl(['get', 'regions']).then(
        () => '',
        (error: Error) => error.message,
      )
    await provider([
      'patch',
      'view',
      'public',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/source","value":{"apiExport":"widgets.example.com"}}]',
    ])
    await eventually(message, text => text.includes('spec.source of the View must be "cluster: ."'))
    await provider(['delete', 'view', 'public'])
    await eventually(message, text => text.includes('please contact APIExport owner'))
  })
})
