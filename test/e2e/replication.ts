import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, type Oriel } from '../support/oriel.ts'
import {
  bindRegions,
  cachedResource,
  regions as crd,
  publish,
  region,
  sliceUrl,
  virtualExport,
} from '../support/published.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../support/tenants.ts'
import { configAt, userAt, watch } from '../support/watcher.ts'

const regionsPath = '/apis/example.com/v1/regions'
const tokens = 'reader-token,reader,1\nmallory-token,mallory,2\n'
const isKcp = Boolean(process.env.KCP_BIN)

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
}
interface List {
  readonly items: readonly KubeObject[]
}

/** What the view shows, whoever serves it. */
export const replicationFlows = (start: (args: readonly string[]) => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    let oriel: Oriel
    let provider: Tenant
    let consumer: Tenant
    let lair: Tenant
    let admin: Client
    let reader: Client
    let identity: string
    let url: string
    const path = (cluster: string, rest = regionsPath): string => `${url}/clusters/${cluster}${rest}`
    const inside = ({ cluster }: Tenant, rest = regionsPath): string =>
      `${oriel.url}/clusters/${cluster}${rest}`
    const names = async (client: Client, at: string): Promise<readonly string[]> =>
      (await client(at)).json<List>().items.map(({ metadata }) => metadata.name ?? '')

    before(async () => {
      const file = join(await temporaryDirectory('replication'), 'tokens.csv')
      await writeFile(file, tokens)
      oriel = await start([
        ...['--token-auth-file', file],
        ...(isKcp ? ['--feature-gates=CacheAPIs=true'] : []),
      ])
      const tenants = await createWorkspaces(oriel, ['provider', 'consumer', 'lair'])
      ;[provider, consumer, lair] = tenants as [Tenant, Tenant, Tenant]
      identity = await publish(provider)
      await apply(provider.kubectl, ...virtualExport(identity, { name: 'regions' }))
      await provider.kubectl(['wait', '--for=condition=IdentityValid', 'apiexport/example.com'])
      await bindRegions(consumer, provider)
      await apply(provider.kubectl, region('north', { public: 'yes' }), region('hidden'))
      admin = await clientOf(configAt(oriel, ''))
      reader = await clientOf(userAt(oriel, '', 'reader-token'))
      url = await sliceUrl(provider)
      await eventually(
        () => names(admin, inside(consumer)),
        found => found.length > 0,
      )
    })
    after(() => discard(oriel))

    it('is published under the name of the slice', () =>
      assert.equal(url, `${oriel.viewsUrl}/services/replication/${provider.cluster}/regions`))

    it('says what is published, and how much', async () => {
      const published = await eventually(
        () =>
          provider.kubectl.json<{ metadata: KubeObject['metadata']; status: Record<string, unknown> }>([
            ...['get', 'clustercachedresource', 'regions'],
          ]),
        ({ status }) => (status.resourceCounts as { cache: number }).cache === 1,
      )
      assert.deepEqual(published.metadata.finalizers, ['cache.kcp.io/clustercachedresource'])
      const { annotations } = published.metadata
      assert.equal(annotations?.['cache.kcp.io/resource-kind'], 'Region')
      assert.equal(annotations?.['cache.kcp.io/resource-scope'], 'Cluster')
      const { conditions, ...status } = published.status
      assert.deepEqual(status, {
        identityHash: identity,
        phase: 'Ready',
        resourceCounts: { cache: 1, local: 1 },
      })
      assert.deepEqual(
        (conditions as readonly { type: string; status: string }[]).map(c => `${c.type}=${c.status}`),
        ['IdentityValid=True', 'ReplicationStarted=True', 'ResourceValid=True'],
      )
    })

    it('shows what is published, as if it were the consumer’s, in the consumer itself and through the view', async () => {
      for (const at of [inside(consumer), path(consumer.cluster)]) {
        const list = (await admin(at)).json<List>()
        assert.deepEqual(
          list.items.map(({ metadata, spec }) => [
            metadata.name,
            metadata.annotations?.['kcp.io/cluster'],
            spec,
          ]),
          [['north', consumer.cluster, { zone: 'north' }]],
        )
        const one = (await admin(`${at}/north`)).json()
        assert.equal(one.metadata.annotations?.['kcp.io/cluster'], consumer.cluster)
        assert.equal((await admin(`${at}/hidden`)).status, 404)
      }
    })

    it('watches what comes, changes and goes', async () => {
      for (const base of [
        `${oriel.url}/clusters/${consumer.cluster}`,
        `${url}/clusters/${consumer.cluster}`,
      ]) {
        const watcher = await watch(configAt(oriel, base), regionsPath)
        const sees = (type: string, name: string) =>
          watcher.next(seen => seen.type === type && seen.object.metadata?.name === name)
        try {
          await sees('ADDED', 'north')
          await apply(provider.kubectl, region('south', { public: 'yes' }))
          const added = await sees('ADDED', 'south')
          assert.equal(added.object.metadata?.annotations?.['kcp.io/cluster'], consumer.cluster)
          await provider.kubectl(['label', 'region', 'south', 'cold=yes'])
          await sees('MODIFIED', 'south')
          await provider.kubectl(['delete', 'region', 'south'])
          await sees('DELETED', 'south')
          if (isKcp) continue
          // kcp's copies follow what is written, not always what is selected.
          await provider.kubectl(['label', 'region', 'hidden', 'public=yes'])
          await sees('ADDED', 'hidden')
          await provider.kubectl(['label', 'region', 'hidden', 'public-'])
          await sees('DELETED', 'hidden')
        } finally {
          watcher.stop()
        }
      }
    })

    it('is discovered as one read-only resource, in the view and in the consumer', async () => {
      for (const at of [inside(consumer, '/apis/example.com/v1'), path('*', '/apis/example.com/v1')]) {
        const { resources } = (await admin(at)).json<{
          resources: readonly { name: string; verbs: readonly string[] | null }[]
        }>()
        assert.deepEqual(
          resources.map(({ name, verbs }) => [name, verbs]),
          [
            ['regions', ['get', 'list', 'watch']],
            ['regions/status', null],
          ],
        )
      }
      const documents = (await admin(path(consumer.cluster, '/openapi/v3'))).json<{ paths: object }>()
      assert.ok('apis/example.com/v1' in documents.paths)
    })

    it('cannot be written, by anybody', async () => {
      const body = region('mine')
      const headers = { 'content-type': 'application/json' }
      const masters = await clientOf(configAt(oriel, '', 'shard-base'))
      for (const at of [inside(consumer), path(consumer.cluster)]) {
        const refused = await masters(at, { method: 'POST', headers, body })
        assert.equal(refused.status, 405, at)
        assert.equal(
          refused.json().message,
          'create is not supported on resources of kind "regions.example.com"',
        )
        assert.equal((await masters(`${at}/north`, { method: 'DELETE' })).status, 405, at)
      }
      const denied = await admin(path(consumer.cluster), { method: 'POST', headers, body })
      assert.equal(denied.status, 403)
    })

    it('lists no cluster in particular', async () => {
      const refused = await admin(path('*'))
      assert.equal(refused.status, 400)
      assert.equal(refused.json().message, 'Wildcard request not supported')
    })

    it('is in the consumer for its members, and in the view for whom the export lets', async () => {
      const closed = await reader(path(consumer.cluster))
      assert.equal(closed.status, 403)
      assert.equal(
        closed.json().message,
        'regions.example.com is forbidden: User "reader" cannot list resource "regions" in API group "example.com" at the cluster scope: virtual.replication.content.authorization.kcp.io: access denied',
      )
      const regions = { apiGroups: ['example.com'], resources: ['regions'], verbs: ['list'] }
      await apply(consumer.kubectl, ...rolesFor('reader', regions))
      await eventually(
        () => reader(inside(consumer)),
        ({ status }) => status === 200,
      )
      assert.equal((await reader(path(consumer.cluster))).status, 403)
      const content = { apiGroups: ['apis.kcp.io'], resources: ['apiexports/content'], verbs: ['list'] }
      await apply(provider.kubectl, ...rolesFor('reader', { ...content, resourceNames: ['example.com'] }))
      await eventually(
        () => reader(path(consumer.cluster)),
        ({ status }) => status === 200,
      )
      assert.equal((await reader(`${path(consumer.cluster)}/north`)).status, 403)
    })

    it('is closed where the export is not bound, and for slices that nobody knows', async () => {
      for (const at of [
        path(lair.cluster),
        path(provider.cluster),
        path(consumer.cluster).replace('/regions/', '/nobody/'),
      ])
        assert.ok([403, ...(isKcp ? [500] : [])].includes((await admin(at)).status), at)
    })

    it('keeps its names in the consumer: no definition gets them', async () => {
      const { kubectl } = consumer
      await kubectl(['create', '-f', '-'], JSON.stringify(crd))
      const { status } = await eventually(
        () => kubectl.json<{ status?: Status }>(['get', 'crd', 'regions.example.com']),
        found => (found.status?.conditions?.length ?? 0) > 1,
      )
      assert.deepEqual(status?.conditions?.map(c => `${c.type}=${c.status} ${c.reason}`).sort(), [
        'Established=False NotAccepted',
        'NamesAccepted=False ListKindConflict',
      ])
      await kubectl(['delete', 'crd', 'regions.example.com'])
    })

    it('says what is missing of what an export refers to', async () => {
      const [exported] = virtualExport(identity, { name: 'regions' })
      const refer = (reference: object): Promise<string> => {
        const storage = { virtual: { identityHash: identity, reference } }
        const resources = [
          { group: 'example.com', name: 'regions', schema: 'v1.regions.example.com', storage },
        ]
        const patch = JSON.stringify({ spec: { resources } })
        return provider.kubectl(['patch', 'apiexport', 'example.com', '--type=merge', '-p', patch])
      }
      const kind = 'ClusterCachedResourceEndpointSlice'
      for (const [reference, why] of [
        [
          { apiGroup: 'cache.kcp.io', kind, name: 'none' },
          'clustercachedresourceendpointslices.cache.kcp.io "none" not found',
        ],
        [
          { apiGroup: 'example.org', kind: 'Nothing', name: 'regions' },
          'no matches for kind "Nothing" in group "example.org"',
        ],
      ] as const) {
        await refer(reference)
        const message = `Internal error occurred: error resolving resource: ${why}`
        await eventually(
          () => admin(inside(consumer)),
          answer => answer.status === 500 && answer.json().message === message,
        )
      }
      await apply(provider.kubectl, exported as KubeObject)
      await eventually(
        () => admin(inside(consumer)),
        ({ status }) => status === 200,
      )
    })

    it('publishes only what is in no namespace, and once', async () => {
      const { kubectl } = provider
      const namespaced = cachedResource('maps', { group: '', resource: 'configmaps' })
      const refused = await kubectl.try(['create', '-f', '-'], JSON.stringify(namespaced))
      assert.match(
        refused.stderr,
        /clustercachedresources.cache.kcp.io "maps" is forbidden: spec: Invalid value: "configmaps": Resource referenced in ClusterCachedResource must be cluster-scoped/,
      )
      const twice = await kubectl.try(['create', '-f', '-'], JSON.stringify(cachedResource('again', {})))
      assert.match(
        twice.stderr,
        /"again" is forbidden: spec: Invalid value: "example.com.v1.regions": ClusterCachedResource with this GVR already exists in the "[a-z0-9]+" workspace/,
      )
    })

    if (!isKcp)
      it('lets nobody but shards read what shards share', async () => {
        const at = (rest: string): string => `${oriel.url}/services/cache/shards/root/clusters/${rest}`
        const published = `${provider.cluster}/apis/example.com/v1/regions:${identity}`
        for (const rest of [
          '*/apis/apis.kcp.io/v1alpha2/apiexports',
          published,
          '*/apis',
          `${provider.cluster}/api/v1/secrets`,
        ]) {
          assert.equal((await admin(at(rest))).status, 403, rest)
          assert.equal((await reader(at(rest))).status, 403, rest)
        }
        const masters = await clientOf(configAt(oriel, '', 'shard-base'))
        assert.deepEqual(await names(masters, at(published)), ['north'])
        for (const rest of [
          published.replace(identity, 'feed'),
          published.replace(provider.cluster, consumer.cluster),
          `${provider.cluster}/api/v1/secrets`,
          '*/apis/apis.kcp.io/v1alpha2/apibindings',
        ])
          assert.equal((await masters(at(rest))).status, 404, rest)
        const write = { method: 'DELETE' }
        assert.equal(
          (await masters(at(`${provider.cluster}/apis/apis.kcp.io/v1alpha2/apiexports/example.com`), write))
            .status,
          405,
        )
      })

    if (!isKcp)
      it('opens nothing to who knows only the name of what is published elsewhere', async () => {
        const elsewhere = { path: provider.path, name: 'regions' }
        const own = await publish(lair)
        await apply(lair.kubectl, ...virtualExport(own, elsewhere))
        await lair.kubectl([
          'wait',
          '--for=condition=ResourceValid',
          'clustercachedresourceendpointslice/regions',
        ])
        await lair.kubectl(['delete', 'crd', 'regions.example.com'])
        await bindRegions(lair, lair)
        const refused = await admin(inside(lair))
        assert.equal(refused.status, 500)
        assert.equal(
          refused.json().message,
          'Internal error occurred: error resolving resource regions.example.com; please contact APIExport owner to resolve',
        )
        assert.equal((await admin(path(lair.cluster).replace(provider.cluster, lair.cluster))).status, 403)
      })

    if (!isKcp)
      it('starts again for watches when other objects are published, and ends with what publishes them', async () => {
        const stream = await admin.watch(`${path(consumer.cluster)}?watch=true`)
        assert.equal((await stream.next())?.object.metadata.name, 'north')
        const everything = '[{"op":"remove","path":"/spec/labelSelector"}]'
        await provider.kubectl(['patch', 'clustercachedresource', 'regions', '--type=json', '-p', everything])
        const last = await stream.next()
        assert.equal(last?.type, 'ERROR')
        assert.equal(last?.object.code, 410)
        await eventually(
          () => names(admin, path(consumer.cluster)),
          found => found.join() === 'hidden,north',
        )
        await provider.kubectl(['delete', 'clustercachedresource', 'regions'])
        assert.equal((await admin(inside(consumer))).status, 500)
      })
  }
