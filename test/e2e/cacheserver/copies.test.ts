import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { eventually, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import {
  type CacheServer,
  startCacheServer,
  writeCacheKubeconfig,
  writeClientAuthority,
} from '../../support/servers/cacheserver.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, createWorkspaces, type Tenant } from '../../support/tenants.ts'

const added = ['kcp.io/shard', 'cache.kcp.io/original-resource-version', 'cache.kcp.io/original-resource-UID']
const json = { 'content-type': 'application/json' }

const exported = (labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name: 'widgets', labels },
  spec: {},
})

describe('a shard with a cache server', function () {
  this.timeout(120_000)
  let server: CacheServer
  let oriel: Oriel
  let cache: Client
  let provider: Tenant

  before(async () => {
    const folder = await temporaryDirectory('cachecopies')
    const authority = await writeClientAuthority(folder)
    server = await startCacheServer(folder, authority)
    const file = await writeCacheKubeconfig(folder, authority, server)
    oriel = await startOriel({ args: ['--cache-kubeconfig', file] })
    cache = await server.client('CN=reader, O=system:masters')
    const [first] = await createWorkspaces(oriel, ['provider'])
    assert.ok(first)
    provider = first
  })
  after(async () => {
    cache.close()
    await oriel.stop()
    await server.stop()
  })

  const at = (path: string): string => `/services/cache/shards/root/clusters/${provider.cluster}/apis/${path}`
  const exportPath = 'apis.kcp.io/v1alpha2/apiexports/widgets'
  const copy = async (path = exportPath): Promise<KubeObject | undefined> => {
    const { status, json: body } = await cache(at(path))
    return status === 200 ? body() : undefined
  }
  const own = (): Promise<KubeObject> =>
    provider.kubectl.json<KubeObject>(['get', 'apiexport', 'widgets', '--show-managed-fields'])
  /** The object as its copy shows it, without what a copy adds. */
  const content = ({ metadata, ...object }: KubeObject): object => {
    const { annotations = {}, resourceVersion: _, ...kept } = metadata
    const others = Object.entries(annotations).filter(([key]) => !added.includes(key))
    return { ...object, metadata: { ...kept, annotations: Object.fromEntries(others) } }
  }
  const isCopied = (): Promise<void> =>
    eventually(
      async () => {
        const [found, original] = [await copy(), await own()]
        return [found && content(found), content(original)]
      },
      ([found, original]) => isDeepStrictEqual(found, original),
    ).then(() => undefined)

  it('copies an export, its changes and its deletion', async () => {
    await apply(provider.kubectl, exported())
    await isCopied()
    const { metadata } = (await copy()) ?? exported()
    assert.deepEqual(
      added.map(key => metadata.annotations?.[key]),
      ['root', (await own()).metadata.resourceVersion, (await own()).metadata.uid],
    )
    await apply(provider.kubectl, exported({ changed: 'yes' }))
    await eventually(
      async () => (await copy())?.metadata.labels?.changed,
      label => label === 'yes',
    )
    await isCopied()
  })

  it('repairs copies that are changed and deleted', async () => {
    const before = (await copy()) ?? exported()
    const body = { ...before, spec: { permissionClaims: [] }, metadata: { ...before.metadata, labels: {} } }
    assert.equal((await cache(at(exportPath), { method: 'PUT', body, headers: json })).status, 200)
    await isCopied()
    assert.equal((await cache(at(exportPath), { method: 'DELETE' })).status, 200)
    await isCopied()
  })

  it('copies the roles of providers only', async () => {
    const role = 'rbac.authorization.k8s.io/v1/clusterroles/access'
    await provider.kubectl(['create', 'clusterrole', 'access', '--verb=get', '--resource=configmaps'])
    await eventually(
      () => copy(role),
      found => found !== undefined,
    )
    await provider.kubectl(['delete', 'apiexport,apiexportendpointslice', '--all'])
    await eventually(
      () => copy(role),
      found => found === undefined,
    )
    assert.equal(await copy(), undefined)
  })

  it('copies workspace types and shards of root under its name', async () => {
    for (const path of [
      'core.kcp.io/v1alpha1/shards/root',
      'tenancy.kcp.io/v1alpha1/workspacetypes/universal',
    ])
      await eventually(
        async () => (await cache(`/services/cache/shards/root/clusters/root/apis/${path}`)).status,
        status => status === 200,
      )
    const clusters = '/services/cache/shards/*/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters'
    await eventually(
      async () => (await cache(clusters)).text,
      text => text.includes('"kcp.io/path":"root"') && !text.includes(provider.cluster),
    )
  })

  it('copies migrations of logical clusters, which shards of kcp follow there, with their progress', async () => {
    await bind(provider, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name: 'migration' },
      spec: { reference: { export: { path: 'root', name: 'migration.kcp.io' } } },
    })
    await apply(provider.kubectl, {
      apiVersion: 'migration.kcp.io/v1alpha1',
      kind: 'LogicalClusterMigration',
      metadata: { name: 'away' },
      spec: { logicalCluster: 'nowhere', destinationShard: 'beta' },
    })
    await eventually(
      async () => (await copy('migration.kcp.io/v1alpha1/logicalclustermigrations/away'))?.status,
      status => JSON.stringify(status ?? {}).includes('LogicalClusterNotFound'),
    )
  })

  it('copies the progress of a migration that is being deleted: it goes on until its end', async () => {
    const migration = 'logicalclustermigration/away'
    const patch = (body: object): Promise<string> =>
      provider.kubectl(['patch', migration, '--type=merge', '-p', JSON.stringify(body)])
    await patch({ metadata: { finalizers: ['example.com/held'] } })
    await provider.kubectl(['delete', migration, '--wait=false'])
    const status = JSON.stringify({ status: { entriesCopied: 7 } })
    const asShard = kubectlFor(oriel, 'shard-base').at(`/clusters/${provider.cluster}`)
    await asShard(['patch', migration, '--subresource=status', '--type=merge', '-p', status])
    const path = 'migration.kcp.io/v1alpha1/logicalclustermigrations/away'
    const copied = async () => (await copy(path))?.status as { entriesCopied?: number } | undefined
    await eventually(copied, status => status?.entriesCopied === 7)
    await patch({ metadata: { finalizers: [] } })
    await eventually(copied, status => status === undefined)
  })

  it('names the file that is not a kubeconfig', async () => {
    await assert.rejects(
      startOriel({ args: ['--cache-kubeconfig', '/dev/null'] }),
      /--cache-kubeconfig|kubeconfig/,
    )
    assert.equal((await kubectlFor(oriel, 'root').try(['get', 'workspaces'])).code, 0)
  })
})
