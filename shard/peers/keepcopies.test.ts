import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { incomingAnnotation, migratingAnnotation, movedAnnotation } from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { openMemoryStore } from '../store/memory.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { copyOf, keepCopies } from './copying.ts'
import { Holders } from './holders.ts'

const url = 'https://beta.example.com'
const addresses = { name: 'beta', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

type Annotations = Readonly<Record<string, string>>
const home = (annotations: Annotations = {}): KubeObject => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', uid: 'u-0', annotations },
})
const exported = (name: string, labels: Annotations = {}): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: { name, uid: `u-${name}`, labels },
  spec: {},
})

describe('copies of a logical cluster that moves between two other shards', () => {
  let beta: TestShard
  let here: TestShard
  const stop = new AbortController()
  let done: Promise<void>
  let known = 0

  before(async () => {
    // Every informer adds a listener.
    setMaxListeners(0, stop.signal)
    const store = openMemoryStore()
    const tenancy = await bootstrap({ store, shard: addresses })
    beta = await testShard({ store })
    here = await testShard()
    const client = { storage: ref => beta.backend.storage(ref) } as PeerClient
    const deps = {
      content: here.content,
      informers: here.informers,
      tenancy,
      log: silent,
      rootShard: 'gamma',
      holders: new Holders(here.informers, tenancy),
    }
    done = keepCopies(deps, { name: 'beta', client }, stop.signal)
  })
  after(async () => {
    stop.abort()
    await done
    await Promise.all([beta.stop(), here.stop()])
  })

  const keyIn = (cluster: string, resource: ResourceRef, { metadata: { name = '' } }: KubeObject) =>
    storageKey(storedResourceOf(resource), { cluster, namespace: '', name })

  /** Stores objects as they are. */
  async function put(shard: TestShard, cluster: string, ...objects: readonly KubeObject[]): Promise<void> {
    const changes = objects.map(object => {
      const resource = object.kind === 'APIExport' ? resources.apiExports : resources.logicalClusters
      return { key: keyIn(cluster, resource, object), value: encodeStored(object) }
    })
    await shard.content.transfer(changes)
  }

  const copyHere = (cluster: string, name: string): KubeObject | undefined =>
    here.informers.for(resources.apiExports).get(cluster, '', name)?.object

  const fromOf = (cluster: string, name: string): string | undefined =>
    copyHere(cluster, name)?.metadata.annotations?.['kcp.io/shard']

  /** Waits until later changes of beta have arrived. */
  async function settle(): Promise<void> {
    const cluster = `later-${++known}`
    await put(beta, cluster, exported('last'), home())
    await until(() => copyHere(cluster, 'last'))
  }

  it('stay while it leaves the shard from which they come', async () => {
    await put(beta, 'leaving', home(), exported('widgets'))
    await until(() => copyHere('leaving', 'widgets'))
    await put(beta, 'leaving', home({ [migratingAnnotation]: 'root:move' }))
    await put(beta, 'leaving', copyOf(exported('widgets'), 'gamma'))
    await settle()
    assert.equal(fromOf('leaving', 'widgets'), 'beta')
    await put(beta, 'leaving', copyOf(home(), 'gamma'))
    await settle()
    assert.equal(fromOf('leaving', 'widgets'), 'beta')
  })

  it('stay while it arrives, and are those of the new shard then', async () => {
    const there = ['widgets', 'deleted'].map(name => copyOf(exported(name), 'gamma'))
    await put(here, 'arriving', copyOf(home(), 'gamma'), ...there)
    await put(beta, 'arriving', home({ [incomingAnnotation]: 'gamma,7', [migratingAnnotation]: 'root:move' }))
    await settle()
    assert.deepEqual([fromOf('arriving', 'widgets'), fromOf('arriving', 'deleted')], ['gamma', 'gamma'])
    await put(beta, 'arriving', exported('widgets'), home({ [movedAnnotation]: '8,7,1' }))
    await until(() => (fromOf('arriving', 'widgets') === 'beta' ? true : undefined))
    await until(() => (copyHere('arriving', 'deleted') === undefined ? true : undefined))
  })

  it('are not replaced by those of a shard that does not know yet that it has moved', async () => {
    const since = home({ [movedAnnotation]: '8,7,1' })
    await put(here, 'outdated', copyOf(since, 'gamma'), copyOf(exported('new'), 'gamma'))
    await put(beta, 'outdated', home(), exported('old'))
    await settle()
    assert.deepEqual([fromOf('outdated', 'new'), fromOf('outdated', 'old')], ['gamma', undefined])
  })

  it('are none of a logical cluster of this shard, until it has moved away', async () => {
    await put(here, 'own', home())
    await put(beta, 'own', home({ [movedAnnotation]: '8,7,9' }), exported('injected'))
    await settle()
    assert.equal(copyHere('own', 'injected'), undefined)
    await put(here, 'own', copyOf(home(), 'beta'))
    await until(() => copyHere('own', 'injected'))
  })

  it('are none of the logical clusters that every shard has, and of the root of another shard', async () => {
    await put(here, 'root', copyOf(home(), 'gamma'))
    const places = ['system:admin', 'root']
    for (const cluster of places) await put(beta, cluster, home(), exported('injected'))
    await settle()
    assert.deepEqual(
      places.map(cluster => copyHere(cluster, 'injected')),
      [undefined, undefined],
    )
  })

  it('are none of malformed objects, which a start could not read', async () => {
    const malformed = { ...exported('malformed'), spec: { resources: [null] } } as KubeObject
    await put(beta, 'sick', home(), malformed, exported('healthy'))
    await until(() => copyHere('sick', 'healthy'))
    assert.equal(copyHere('sick', 'malformed'), undefined)
  })

  it('are removed with it', async () => {
    await put(beta, 'deleted', home(), exported('widgets'))
    await until(() => copyHere('deleted', 'widgets'))
    const removed = [exported('widgets'), home()].map(object => ({
      key: keyIn(
        'deleted',
        object.kind === 'APIExport' ? resources.apiExports : resources.logicalClusters,
        object,
      ),
      value: undefined,
    }))
    await beta.content.transfer(removed)
    await until(() => (copyHere('deleted', 'widgets') === undefined ? true : undefined))
    const clusters = here.informers.for(resources.logicalClusters)
    await until(() => (clusters.get('deleted', '', 'cluster') === undefined ? true : undefined))
  })
})
