import assert from 'node:assert/strict'
import type { KeyPair } from '../../../cmd/certificates/certificates.ts'
import { clientOf } from '../../support/client.ts'
import { eventually, kubectlFor } from '../../support/oriel.ts'
import { publish, region, virtualExport } from '../../support/published.ts'
import {
  type CacheServer,
  startCacheServer,
  writeCacheKubeconfig,
  writeClientAuthority,
} from '../../support/servers/cacheserver.ts'
import { type Shards, startShards, tenantOn } from '../../support/servers/shards.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, bindingOf, type Tenant } from '../../support/tenants.ts'
import { configAt, watch } from '../../support/watcher.ts'

const regionsPath = '/apis/example.com/v1/regions'

describe('two shards with a cache server', function () {
  this.timeout(180_000)
  let folder: string
  let authority: KeyPair
  let server: CacheServer
  let shards: Shards
  let provider: Tenant
  let consumer: Tenant
  let identity: string

  before(async () => {
    folder = await temporaryDirectory('cacheacrossshards')
    authority = await writeClientAuthority(folder)
    server = await startCacheServer(folder, authority)
    const file = await writeCacheKubeconfig(folder, authority, server)
    shards = await startShards(folder, ['--cache-kubeconfig', file])
    await kubectlFor(shards.root, 'root')(['wait', '--for=create', '--timeout=60s', 'shard/beta'])
    ;[provider, consumer] = await Promise.all([
      tenantOn(shards, 'beta', 'provider'),
      tenantOn(shards, 'root', 'consumer'),
    ])
    identity = await publish(provider)
    await apply(provider.kubectl, ...virtualExport(identity, { name: 'regions' }))
    await apply(provider.kubectl, region('north', { public: 'yes' }), region('hidden'))
    const binding = JSON.stringify(bindingOf(provider, 'example.com', []))
    await eventually(
      () => consumer.kubectl.try(['apply', '-f', '-'], binding),
      ({ code }) => code === 0,
    )
    await bind(consumer, bindingOf(provider, 'example.com', []))
  })
  after(async () => {
    await Promise.all([shards.root.stop(), shards.beta.stop()])
    await server.stop()
  })

  const at = (): string => `${shards.root.url}/clusters/${consumer.cluster}`
  const served = async (): Promise<readonly string[]> => {
    const client = await clientOf(configAt(shards.root, at(), 'shard-base'))
    const { json } = await client(regionsPath)
    client.close()
    return (json().items ?? []).map(({ metadata }) => metadata.name ?? '').sort()
  }
  const become = (names: readonly string[]): Promise<unknown> =>
    eventually(served, found => String(found) === String(names))

  it('shows consumers on one shard the objects that the other one publishes, as its own', async () => {
    await become(['north'])
    const client = await clientOf(configAt(shards.root, at(), 'shard-base'))
    const { metadata, spec } = (await client(`${regionsPath}/north`)).json()
    client.close()
    assert.deepEqual(spec, { zone: 'north' })
    assert.deepEqual(
      Object.keys(metadata.annotations ?? {}).filter(name => name.includes('kcp.io/')),
      ['kcp.io/cluster'],
    )
    assert.equal(metadata.annotations?.['kcp.io/cluster'], consumer.cluster)
  })

  it('shows watches what changes', async () => {
    const watcher = await watch(configAt(shards.root, at(), 'shard-base'), regionsPath)
    const sees = (type: string, name: string) =>
      watcher.next(seen => seen.type === type && seen.object.metadata?.name === name)
    await sees('ADDED', 'north')
    await apply(provider.kubectl, region('south', { public: 'yes' }))
    await sees('ADDED', 'south')
    await provider.kubectl(['label', 'region', 'south', 'cold=yes'])
    await sees('MODIFIED', 'south')
    await provider.kubectl(['delete', 'region', 'south'])
    await sees('DELETED', 'south')
    watcher.stop()
  })

  it('shows published objects also while their shard is down', async () => {
    await shards.beta.stop()
    await become(['north'])
    shards = { ...shards, beta: await shards.restartBeta() }
  })

  it('refuses reads while the cache server is down, and goes on after it', async () => {
    const { port } = new URL(server.url)
    await server.stop()
    const client = await clientOf(configAt(shards.root, at(), 'shard-base'))
    const { status, json } = await client(regionsPath)
    client.close()
    assert.deepEqual([status, json<{ reason: string }>().reason], [502, 'BadGateway'])
    server = await startCacheServer(folder, authority, ['--secure-port', port])
    await become(['north'])
  })
})
