import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { clientOf } from '../../support/client.ts'
import { eventually, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { cachedResource, publish, region, virtualExport } from '../../support/published.ts'
import { type Shards, startShards, tenantOn } from '../../support/servers/shards.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, bindingOf, type Tenant } from '../../support/tenants.ts'
import { configAt, type Watcher, watch } from '../../support/watcher.ts'

const regionsPath = '/apis/example.com/v1/regions'

interface Slice extends KubeObject {
  readonly status?: {
    readonly endpoints?: readonly { readonly url: string }[]
    readonly conditions?: readonly { type: string; status: string; reason?: string }[]
  }
}

interface Side {
  readonly home: 'root' | 'beta'
  readonly away: 'root' | 'beta'
}

for (const { home, away } of [
  { home: 'root', away: 'beta' },
  { home: 'beta', away: 'root' },
] as readonly Side[])
  describe(`objects that are published on the shard ${home}`, function () {
    this.timeout(180_000)
    let shards: Shards
    let provider: Tenant
    let far: Tenant
    let near: Tenant

    before(async () => {
      shards = await startShards(await temporaryDirectory('publishedacrossshards'))
      await kubectlFor(shards.root, 'root')(['wait', '--for=create', '--timeout=60s', 'shard/beta'])
      ;[provider, near, far] = await Promise.all([
        tenantOn(shards, home, 'provider'),
        tenantOn(shards, home, 'near'),
        tenantOn(shards, away, 'far'),
      ])
      const identity = await publish(provider)
      await apply(provider.kubectl, ...virtualExport(identity, { name: 'regions' }))
      await apply(provider.kubectl, region('north', { public: 'yes' }), region('hidden'))
      for (const consumer of [near, far]) {
        const binding = bindingOf(provider, 'example.com', [])
        await eventually(
          () => consumer.kubectl.try(['apply', '-f', '-'], JSON.stringify(binding)),
          ({ code }) => code === 0,
        )
        await bind(consumer, binding)
      }
    })
    after(async () => {
      await Promise.all([shards.root.stop(), shards.beta.stop()])
    })

    const slice = (from: Tenant, name: string): Promise<Slice> =>
      from.kubectl.json<Slice>(['get', 'clustercachedresourceendpointslice', name])
    const urlOf = ({ viewsUrl }: Oriel): string =>
      `${viewsUrl.replace('127.0.0.1', 'localhost')}/services/replication/${provider.cluster}/regions`
    const served = async (at: string): Promise<readonly (string | undefined)[]> => {
      const client = await clientOf(configAt(shards[away], at, 'shard-base'))
      const reply = await client(regionsPath)
      client.close()
      return (reply.json().items ?? []).map(
        ({ metadata }) => `${metadata.name} in ${metadata.annotations?.['kcp.io/cluster']}`,
      )
    }
    const watchesOf = (consumer: Tenant): Promise<readonly Watcher[]> =>
      Promise.all(
        [shards[away].url, urlOf(shards[away])].map(base =>
          watch(configAt(shards[away], `${base}/clusters/${consumer.cluster}`, 'shard-base'), regionsPath),
        ),
      )

    it('have a URL on every shard with consumers, as long as it has them', async () => {
      const urls = async (): Promise<readonly string[]> =>
        (await slice(provider, 'regions')).status?.endpoints?.map(({ url }) => url).toSorted() ?? []
      const all = [urlOf(shards.root), urlOf(shards.beta)].toSorted()
      await eventually(urls, found => String(found) === String(all))
      await far.kubectl(['delete', 'apibinding', 'example.com'])
      await eventually(urls, found => String(found) === urlOf(shards[home]))
      await bind(far, bindingOf(provider, 'example.com', []))
      await eventually(urls, found => String(found) === String(all))
    })

    it('are served on the other shard, in the consumer and by the view', async () => {
      for (const base of [shards[away].url, urlOf(shards[away])]) {
        const at = `${base}/clusters/${far.cluster}`
        await eventually(
          () => served(at),
          found => String(found) === `north in ${far.cluster}`,
        )
        const client = await clientOf(configAt(shards[away], at, 'shard-base'))
        const one = (await client(`${regionsPath}/north`)).json()
        assert.deepEqual([one.metadata.name, one.spec], ['north', { zone: 'north' }])
        assert.deepEqual(
          Object.keys(one.metadata.annotations ?? {}).filter(key => key.startsWith('kcp.io/')),
          ['kcp.io/cluster'],
        )
        assert.equal((await client(`${regionsPath}/hidden`)).status, 404)
        client.close()
      }
    })

    it('reach watches on the other shard when they are created, changed and deleted', async () => {
      for (const watcher of await watchesOf(far)) {
        const sees = (type: string, name: string) =>
          watcher.next(seen => seen.type === type && seen.object.metadata?.name === name)
        await sees('ADDED', 'north')
        await apply(provider.kubectl, region('south', { public: 'yes' }))
        const { object } = await sees('ADDED', 'south')
        assert.equal(object.metadata?.annotations?.['kcp.io/cluster'], far.cluster)
        await provider.kubectl(['label', 'region', 'south', 'cold=yes'])
        await sees('MODIFIED', 'south')
        await provider.kubectl(['delete', 'region', 'south'])
        await sees('DELETED', 'south')
        watcher.stop()
      }
    })

    it('have no copies of logical clusters in lists over all logical clusters', async () => {
      const client = await clientOf(configAt(shards[away], shards[away].url, 'shard-base'))
      const { json } = await client('/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters')
      client.close()
      const listed = (json().items ?? []).map(({ metadata }) => metadata.annotations?.['kcp.io/cluster'])
      assert.ok(listed.includes(far.cluster) && !listed.includes(provider.cluster), String(listed))
      assert.equal(listed.includes('root'), away === 'root')
    })

    it('are not served to logical clusters without a binding, nor by shards without the objects', async () => {
      const other = await tenantOn(shards, away, 'other')
      const client = await clientOf(configAt(shards[away], shards[away].url, 'base'))
      const path = new URL(urlOf(shards[away])).pathname
      assert.equal((await client(`${path}/clusters/${other.cluster}${regionsPath}`)).status, 403)
      assert.equal((await client(`/clusters/${other.cluster}${regionsPath}`)).status, 404)
      client.close()
    })

    it('are named by slices of other shards with a path', async () => {
      const named = (name: string, resource: string): KubeObject => ({
        apiVersion: 'cache.kcp.io/v1alpha1',
        kind: 'ClusterCachedResourceEndpointSlice',
        metadata: { name },
        spec: { clusterCachedResource: { path: provider.path, name: resource }, export: { name: 'none' } },
      })
      await apply(far.kubectl, named('found', 'regions'), named('lost', 'nothing'))
      const valid = async (name: string): Promise<string | undefined> => {
        const { status } = await slice(far, name)
        const { status: state, reason } =
          status?.conditions?.find(({ type }) => type === 'ResourceValid') ?? {}
        return reason ?? state
      }
      await eventually(
        () => valid('found'),
        state => state === 'True',
      )
      await eventually(
        () => valid('lost'),
        state => state === 'ClusterCachedResourceNotFound',
      )
    })

    it('end their watches on the other shard when other objects are published', async () => {
      const [watcher] = await watchesOf(far)
      assert.ok(watcher)
      await watcher.next(({ object }) => object.metadata?.name === 'north')
      await apply(
        provider.kubectl,
        cachedResource('regions', { labelSelector: { matchLabels: { open: 'yes' } } }),
      )
      const { object } = await watcher.next(({ type }) => type === 'ERROR')
      assert.equal((object as { readonly code?: number }).code, 410)
      await apply(provider.kubectl, region('open', { open: 'yes' }))
      await eventually(
        () => served(`${shards[away].url}/clusters/${far.cluster}`),
        found => String(found) === `open in ${far.cluster}`,
      )
    })
  })
