import assert from 'node:assert/strict'
import { silent } from '../../../framework/contract/log.ts'
import type { Host, Informers, KubeObject, ResourceRef } from '../../../framework/index.ts'
import { createInformers } from '../../../framework/informers/informers.ts'
import { testContext } from '../../../test/support/context.ts'
import { type MemoryStorage, memoryStorage } from '../../../test/support/storage/memorystorage.ts'
import { watchClusters } from './clusters.ts'

/** A shard, or the cache server: objects, as informers see them. */
function place(signal: AbortSignal) {
  const storages = new Map<string, MemoryStorage>()
  const storage = (ref: ResourceRef): MemoryStorage => {
    const id = `${ref.resource}:${ref.identity ?? ''}`
    const found = storages.get(id) ?? memoryStorage({ ...ref, kind: ref.resource })
    storages.set(id, found)
    return found
  }
  const informers: Informers = createInformers({ storage }, silent, signal)
  const add = (ref: ResourceRef, cluster: string, name: string, more: object = {}) => {
    const object = {
      apiVersion: `${ref.group}/${ref.version}`,
      kind: ref.resource,
      metadata: { name },
      ...more,
    }
    const key = { cluster, namespace: '', name }
    return storage(ref).create(testContext({ cluster }), key, object as KubeObject, {
      dryRun: false,
      fieldManager: '',
    })
  }
  return { informers, storage, add }
}

const exports = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apiexports' }
const types = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes', identity: 'abc' }
const tenancy = { status: { identityHash: 'abc' } }

describe('the logical clusters that lifecycle views see', () => {
  let stop: AbortController
  let shard: ReturnType<typeof place>
  let cache: ReturnType<typeof place>
  beforeEach(() => {
    stop = new AbortController()
    shard = place(stop.signal)
    cache = place(stop.signal)
  })
  afterEach(() => stop.abort())

  const host = (): Host =>
    ({
      informers: shard.informers,
      shared: { informers: cache.informers, storage: cache.storage },
    }) as unknown as Host

  it('includes the types of all shards, also on one that has neither types nor the export', async () => {
    await cache.add(exports, 'root', 'tenancy.kcp.io', tenancy)
    await cache.add(types, 'root', 'organization', { spec: {} })
    const clusters = watchClusters(host())
    await clusters.synced
    assert.equal(clusters.type({ cluster: 'root', name: 'organization' })?.metadata.name, 'organization')
    assert.equal(clusters.type({ cluster: 'root', name: 'none' }), undefined)
    assert.deepEqual(clusters.types, types)
  })

  it("prefers this shard's own, of which the copy may be old", async () => {
    await cache.add(exports, 'root', 'tenancy.kcp.io', tenancy)
    await cache.add(types, 'one', 'team', { spec: { initializerPermissions: [] } })
    await shard.add(types, 'one', 'team', { spec: { initializerPermissions: [{ verbs: ['get'] }] } })
    const clusters = watchClusters(host())
    await clusters.synced
    assert.deepEqual(clusters.type({ cluster: 'one', name: 'team' })?.spec, {
      initializerPermissions: [{ verbs: ['get'] }],
    })
  })

  it('waits until root exports the types', async () => {
    const clusters = watchClusters(host())
    await shard.informers.for(exports).synced
    assert.throws(() => clusters.types, /root does not export tenancy\.kcp\.io/)
    await cache.add(exports, 'root', 'tenancy.kcp.io', tenancy)
    await clusters.synced
    assert.deepEqual(clusters.types, types)
  })
})
