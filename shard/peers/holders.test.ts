import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { migratingAnnotation, movedAnnotation, shardAnnotation } from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import type { TenancyResources } from '../controllers/host.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { openMemoryStore } from '../store/memory.ts'
import { intact } from '../store/store.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { copyOf, keepCopies } from './copying.ts'
import { Holders } from './holders.ts'

const url = 'https://beta.example.com'
const addresses = { name: 'beta', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

type Annotations = Readonly<Record<string, string>>
const owner = {
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  resource: 'workspaces',
  cluster: 'org',
  name: 'ws',
  uid: 'u-ws',
}
const home = (annotations: Annotations = {}): KubeObject => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', uid: 'u-0', annotations },
  spec: { owner },
})
const exported = (name: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name, uid: `u-${name}` },
  spec: {},
})
const workspace = (cluster: string, shard: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'ws', annotations: { [shardAnnotation]: shard } },
  spec: { cluster },
})

describe('a logical cluster that two other shards say to have', () => {
  let shards: Readonly<Record<'here' | 'beta' | 'gamma', TestShard>>
  let tenancy: TenancyResources
  let holders: Holders
  const stops = { beta: new AbortController(), gamma: new AbortController() }
  const done: Promise<void>[] = []
  let known = 0

  before(async () => {
    const [first, second] = [openMemoryStore(), openMemoryStore()]
    tenancy = await bootstrap({ store: first, shard: addresses })
    // The exports have the same identities.
    for await (const values of first.range('/', '0'))
      await second.commit(values.map(value => ({ key: value.key, value: intact(value).value })))
    shards = {
      here: await testShard(),
      beta: await testShard({ store: first }),
      gamma: await testShard({ store: second }),
    }
    holders = new Holders(shards.here.informers, tenancy)
    follow('beta')
    follow('gamma')
  })
  after(async () => {
    for (const stop of Object.values(stops)) stop.abort()
    await Promise.all(done)
    await Promise.all(Object.values(shards).map(shard => shard.stop()))
  })

  function follow(name: 'beta' | 'gamma'): void {
    // Every informer adds a listener.
    setMaxListeners(0, stops[name].signal)
    const { content, informers } = shards.here
    const client = { storage: ref => shards[name].backend.storage(ref) } as PeerClient
    const deps = { content, informers, tenancy, log: silent, rootShard: 'gamma', holders }
    done.push(keepCopies(deps, { name, client }, stops[name].signal))
  }

  const keyIn = (cluster: string, { kind, metadata: { name = '' } }: KubeObject): string => {
    const kinds = { APIExport: resources.apiExports, LogicalCluster: resources.logicalClusters }
    const resource = kind === 'Workspace' ? tenancy.workspaces : kinds[kind as keyof typeof kinds]
    return storageKey(storedResourceOf(resource), { cluster, namespace: '', name })
  }
  const put = (shard: keyof typeof shards, cluster: string, ...objects: readonly KubeObject[]) =>
    shards[shard].content.transfer(
      objects.map(object => ({ key: keyIn(cluster, object), value: encodeStored(object) })),
    )
  const remove = (shard: keyof typeof shards, cluster: string, ...objects: readonly KubeObject[]) =>
    shards[shard].content.transfer(objects.map(object => ({ key: keyIn(cluster, object), value: undefined })))
  const fromOf = (cluster: string, name: string): string | undefined =>
    shards.here.informers.for(resources.apiExports).get(cluster, '', name)?.meta.annotations['kcp.io/shard']
  const untilFrom = (cluster: string, name: string, shard: string | undefined) =>
    until(() => (fromOf(cluster, name) === shard ? true : undefined))

  /** Waits until later changes of a shard have arrived. */
  async function settle(shard: 'beta' | 'gamma'): Promise<void> {
    const cluster = `later-${++known}`
    await put(shard, cluster, exported('last'), home())
    await untilFrom(cluster, 'last', shard)
  }

  it('is that of the shard whose copies are here, until it has left that', async () => {
    await put('gamma', 'taken', home(), exported('real'))
    await untilFrom('taken', 'real', 'gamma')
    await put('beta', 'taken', home({ [movedAnnotation]: '8,7,9' }), exported('real'), exported('injected'))
    await settle('beta')
    assert.deepEqual([fromOf('taken', 'real'), fromOf('taken', 'injected')], ['gamma', undefined])
    await put('gamma', 'taken', home({ [migratingAnnotation]: 'root:move' }))
    await settle('gamma')
    assert.equal(fromOf('taken', 'real'), 'gamma')
    await put('gamma', 'taken', copyOf(home(), 'beta'), copyOf(exported('real'), 'beta'))
    await untilFrom('taken', 'injected', 'beta')
    assert.equal(fromOf('taken', 'real'), 'beta')
  })

  it('is copied from none when no copies are here, until one of them has it no more', async () => {
    await put('gamma', 'disputed', home())
    await settle('gamma')
    await put('beta', 'disputed', home(), exported('new'))
    await settle('beta')
    assert.equal(fromOf('disputed', 'new'), undefined)
    await remove('gamma', 'disputed', home())
    await untilFrom('disputed', 'new', 'beta')
  })

  it('is that of the shard that its Workspace names: copies of an earlier build are replaced', async () => {
    await put('here', 'org', workspace('stolen', 'gamma'))
    const moved = home({ [movedAnnotation]: '8,7,9' })
    await put('here', 'stolen', copyOf(moved, 'beta'), copyOf(exported('injected'), 'beta'))
    await put('beta', 'stolen', moved, exported('injected'))
    await settle('beta')
    await put('gamma', 'stolen', home(), exported('real'))
    await untilFrom('stolen', 'real', 'gamma')
    await untilFrom('stolen', 'injected', undefined)
    await put('beta', 'stolen', moved, exported('again'))
    await settle('beta')
    assert.equal(fromOf('stolen', 'again'), undefined)
  })

  it('is that of the other shard when the Shard of the one is deleted', async () => {
    await put('gamma', 'abandoned', home(), exported('real'))
    await untilFrom('abandoned', 'real', 'gamma')
    await put('beta', 'abandoned', home(), exported('real'))
    await settle('beta')
    assert.equal(fromOf('abandoned', 'real'), 'gamma')
    stops.gamma.abort()
    await untilFrom('abandoned', 'real', 'beta')
  })
})
