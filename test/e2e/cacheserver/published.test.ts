import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { KeyPair } from '../../../cmd/certificates/certificates.ts'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { cachedResource, publish, region } from '../../support/published.ts'
import {
  type CacheServer,
  startCacheServer,
  writeCacheKubeconfig,
  writeClientAuthority,
} from '../../support/servers/cacheserver.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'

const selected = { public: 'yes' }
const json = { 'content-type': 'application/json' }

describe('published objects in a cache server', function () {
  this.timeout(120_000)
  let folder: string
  let authority: KeyPair
  let server: CacheServer
  let oriel: Oriel
  let cache: Client
  let provider: Tenant
  let resource: string

  before(async () => {
    folder = await temporaryDirectory('publishedcopies')
    authority = await writeClientAuthority(folder)
    // Empty after a restart.
    server = await startCacheServer(folder, authority, ['--store', 'memory:'])
    const file = await writeCacheKubeconfig(folder, authority, server)
    oriel = await startOriel({ args: ['--cache-kubeconfig', file] })
    cache = await server.client('CN=reader, O=system:masters')
    const [first] = await createWorkspaces(oriel, ['provider'])
    assert.ok(first)
    provider = first
    const identity = await publish(provider)
    resource = `regions:${identity}`
    await apply(provider.kubectl, region('north', selected), region('hidden'))
  })
  after(async () => {
    cache.close()
    await oriel.stop()
    await server.stop()
  })

  const at = (name = '', cluster = provider.cluster, shard = 'root'): string =>
    `/services/cache/shards/${shard}/clusters/${cluster}/apis/example.com/v1/${resource}${name && `/${name}`}`
  const listed = async (path = at()): Promise<readonly string[] | number> => {
    const { status, json: body } = await cache(path)
    return status === 200 ? (body().items ?? []).map(({ metadata }) => metadata.name ?? '').sort() : status
  }
  const become = (names: readonly string[] | number): Promise<unknown> =>
    eventually(listed, found => String(found) === String(names))
  const copy = async (name: string): Promise<KubeObject> => (await cache(at(name))).json<KubeObject>()

  it('are those that the ClusterCachedResource selects, with the annotations of copies', async () => {
    await become(['north'])
    const original = await provider.kubectl.json<KubeObject>(['get', 'region', 'north'])
    const { metadata, spec, apiVersion, kind } = await copy('north')
    assert.deepEqual([apiVersion, kind, spec], ['example.com/v1', 'Region', { zone: 'north' }])
    const { annotations = {}, uid, labels } = metadata
    assert.deepEqual([uid, labels], [original.metadata.uid, selected])
    assert.equal(annotations['kcp.io/cluster'], provider.cluster)
    assert.equal(annotations['kcp.io/shard'], 'root')
    assert.equal(annotations['cache.kcp.io/original-resource-UID'], original.metadata.uid)
    assert.equal(annotations['cache.kcp.io/original-resource-version'], original.metadata.resourceVersion)
  })

  it('are listed and watched over all logical clusters and shards', async () => {
    assert.deepEqual(await listed(at('', '*', '*')), ['north'])
    const watch = await cache.watch(`${at('', '*', '*')}?watch=true`)
    assert.equal((await watch.next())?.object.metadata.name, 'north')
    await apply(provider.kubectl, region('south', selected))
    const added = await watch.next()
    assert.deepEqual([added?.type, added?.object.metadata.name], ['ADDED', 'south'])
    await provider.kubectl(['label', 'region', 'south', 'cold=yes'])
    assert.equal((await watch.next())?.object.metadata.labels?.cold, 'yes')
    await provider.kubectl(['delete', 'region', 'south'])
    assert.equal((await watch.next())?.type, 'DELETED')
    watch.leave()
  })

  it('are read without the identity in their logical cluster only', async () => {
    const named = (path: string): string => path.replace(resource, 'regions')
    assert.deepEqual(await listed(named(at())), ['north'])
    assert.equal((await cache(named(at('north')))).status, 200)
    for (const elsewhere of [at('', '*', '*'), at('', 'root')])
      assert.equal(await listed(named(elsewhere)), 404)
  })

  it('are read as metadata over all logical clusters without the identity, which a shard of kcp does before it writes any', async () => {
    const path = at('', '*', '*').replace(resource, 'regions')
    const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
    const { status, json } = await cache(path, { headers: { accept } })
    assert.equal(status, 200)
    const { kind, items } = json<{ kind: string; items: readonly KubeObject[] }>()
    assert.deepEqual(
      [kind, items.map(({ metadata }) => metadata.name)],
      ['PartialObjectMetadataList', ['north']],
    )
    assert.equal(items[0]?.metadata.annotations?.['kcp.io/cluster'], provider.cluster)
    const watch = await cache.watch(`${path}?watch=true`, {
      headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    })
    assert.equal((await watch.next())?.object.metadata.name, 'north')
    watch.leave()
  })

  it('are in the discovery of their logical cluster only', async () => {
    const resourcesIn = async (cluster: string): Promise<readonly string[] | number> => {
      const path = `/services/cache/shards/root/clusters/${cluster}/apis/example.com/v1`
      const { status, json } = await cache(path)
      const { resources = [] } = status === 200 ? json<{ resources?: readonly { name: string }[] }>() : {}
      return status === 200 ? resources.map(({ name }) => name) : status
    }
    assert.deepEqual(await resourcesIn(provider.cluster), ['regions'])
    assert.equal(await resourcesIn('root'), 404)
  })

  it('follow the labels of the objects', async () => {
    await provider.kubectl(['label', 'region', 'hidden', 'public=yes'])
    await become(['hidden', 'north'])
    await provider.kubectl(['label', 'region', 'hidden', 'public-'])
    await become(['north'])
  })

  it('are repaired when they are changed and deleted', async () => {
    const before = await copy('north')
    const body = { ...before, spec: { zone: 'elsewhere' } }
    assert.equal((await cache(at('north'), { method: 'PUT', body, headers: json })).status, 200)
    await eventually(
      () => copy('north'),
      ({ spec }) => (spec as { zone?: string }).zone === 'north',
    )
    assert.equal((await cache(at('north'), { method: 'DELETE' })).status, 200)
    await become(['north'])
  })

  const counted = (counts: { readonly cache: number; readonly local: number }): Promise<unknown> =>
    eventually(
      () =>
        provider.kubectl([
          'get',
          'clustercachedresource',
          'regions',
          '-o',
          'jsonpath={.status.resourceCounts}',
        ]),
      text => isDeepStrictEqual(JSON.parse(text), counts),
    )

  it('are written again when the cache server has lost them, and are counted when they are there', async () => {
    await counted({ cache: 1, local: 1 })
    const { port } = new URL(server.url)
    await server.stop()
    cache.close()
    await apply(provider.kubectl, region('late', selected))
    await counted({ cache: 1, local: 2 })
    server = await startCacheServer(folder, authority, ['--store', 'memory:', '--secure-port', port])
    cache = await server.client('CN=reader, O=system:masters')
    await become(['late', 'north'])
    await counted({ cache: 2, local: 2 })
  })

  it('are those of a changed selector', async () => {
    await apply(
      provider.kubectl,
      cachedResource('regions', { labelSelector: { matchLabels: { open: 'yes' } } }),
    )
    await apply(provider.kubectl, region('open', { open: 'yes' }))
    await become(['open'])
  })

  it('are removed with the ClusterCachedResource, and nothing remains of them', async () => {
    await provider.kubectl(['delete', 'clustercachedresource', 'regions'])
    await become(404)
    await publish(provider, { labelSelector: { matchLabels: { nothing: 'yes' } } })
    await become([])
  })
})
