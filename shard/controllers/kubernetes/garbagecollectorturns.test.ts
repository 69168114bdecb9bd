import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { after as settled } from '../../../framework/async/awaitable.ts'
import { silent } from '../../../framework/contract/log.ts'
import type { KubeObject, OwnerReference } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type TestShard, testShard } from '../../testing/shard.ts'
import { ifFound } from '../client.ts'
import type { Controller } from '../controller.ts'
import { garbageCollector } from './garbagecollector.ts'
import type { Read } from './ownerreferences.ts'

const cluster = 'c1'
const namespace = 'a'
const { configMaps } = resources
const many = 100
const few = 20

/** The most that are read in one turn of the event loop. Each read takes a millisecond. */
class ReadsInTurn {
  most = 0
  #inTurn = 0

  note(): void {
    if (this.#inTurn++ === 0) setImmediate(this.#end)
    this.most = Math.max(this.most, this.#inTurn)
    for (const end = performance.now() + 1; performance.now() < end; );
  }

  readonly #end = (): void => {
    this.#inTurn = 0
  }
}

describe('the garbage collector, between the turns of other requests,', () => {
  let shard: TestShard
  let collector: Controller
  let running: Promise<void>
  let reads: ReadsInTurn
  /** Called with the name of each object that is read. */
  let onRead: (name: string) => void
  const stop = new AbortController()
  const create = (object: KubeObject) =>
    shard.client.create(configMaps, { cluster, namespace, name: object.metadata.name ?? '' }, object)
  const configMap = (name: string, ownerReferences?: readonly OwnerReference[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, ...(ownerReferences && { ownerReferences }) },
  })
  const ownerOf = (name: string, uid = 'none'): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name,
    uid,
    blockOwnerDeletion: true,
  })
  const names = async (): Promise<readonly (string | undefined)[]> =>
    (await shard.client.list(configMaps, cluster)).map(({ key }) => key.name)
  const familyOf = async (name: string, count = many): Promise<OwnerReference> => {
    const owner = ownerOf(name, (await create(configMap(name))).metadata.uid)
    for (let i = 0; i < count; i++) await create(configMap(`${name}-${i}`, [owner]))
    await collector.idle()
    reads = new ReadsInTurn()
    return owner
  }
  const remove = (name: string, propagation: 'Foreground' | 'Orphan' | 'Background') =>
    shard.client.delete(configMaps, { cluster, namespace, name }, { propagation })

  before(async () => {
    reads = new ReadsInTurn()
    onRead = () => undefined
    shard = await testShard({
      controllers: ({ cache, client, backend }) => {
        const read: Read = ({ names, storage }, key) => {
          reads.note()
          onRead(key.name)
          const ctx = shard.context({ group: '', version: 'v1', resource: names.plural }, key.cluster)
          return ifFound((async () => settled(storage.get(ctx, key), item => item.object))())
        }
        collector = garbageCollector({ cache, client, apis: backend.apis, read, log: silent })
        return []
      },
    })
    running = collector.run(stop.signal)
    await shard.addCluster(cluster)
    await shard.client.create(
      resources.namespaces,
      { cluster, namespace: '', name: namespace },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    )
  })
  afterEach(async () => {
    mock.restoreAll()
    onRead = () => undefined
    for (const name of await names())
      await ifFound(shard.client.delete(configMaps, { cluster, namespace, name: name ?? '' }))
    await collector.idle()
  })
  after(async () => {
    stop.abort()
    await running
    await shard.stop()
  })

  for (const propagation of ['Foreground', 'Background'] as const)
    it(`deletes many dependents: ${propagation}`, async () => {
      await familyOf('owner')
      await remove('owner', propagation)
      await collector.idle()
      assert.deepEqual(await names(), [])
      assert.ok(reads.most <= 16, `${reads.most} reads in a turn`)
    })

  it('releases many dependents', async () => {
    await familyOf('owner')
    await remove('owner', 'Orphan')
    await collector.idle()
    assert.equal((await names()).length, many)
    assert.ok(reads.most <= 16, `${reads.most} reads in a turn`)
  })

  for (const propagation of ['Foreground', 'Orphan'] as const)
    it(`has turns of its workers for many dependents: ${propagation}`, async () => {
      await familyOf('owner', few)
      let [passed, looked] = [0, 0]
      const now = performance.now.bind(performance)
      mock.method(performance, 'now', () => now() + passed)
      onRead = name => {
        passed += 3_000
        if (name !== 'owner') looked++
      }
      await remove('owner', propagation)
      await collector.idle()
      assert.equal((await names()).length, propagation === 'Foreground' ? 0 : few)
      assert.ok(looked > few, 'each dependent was read in one turn')
    })

  it('looks up many owners', async () => {
    const { uid = '' } = (await create(configMap('solid'))).metadata
    const absent = Array.from({ length: many }, (_, i) => ({ ...ownerOf(`absent-${i}`), uid: `none-${i}` }))
    reads = new ReadsInTurn()
    await create(configMap('owned', [...absent, ownerOf('solid', uid)]))
    await collector.idle()
    const [owned] = (await shard.client.list(configMaps, cluster)).filter(({ key }) => key.name === 'owned')
    assert.deepEqual(owned?.object.metadata.ownerReferences, [ownerOf('solid', uid)])
    assert.ok(reads.most <= 16, `${reads.most} reads in a turn`)
  })

  it('releases a dependent that appears meanwhile', async () => {
    const owner = await familyOf('owner')
    let late: Promise<unknown> | undefined
    onRead = name => {
      if (name === 'owner-9') late ??= create(configMap('late', [owner]))
    }
    await remove('owner', 'Orphan')
    await collector.idle()
    await late
    await collector.idle()
    const released = (await names()).filter(name => name === 'late')
    assert.deepEqual(released, ['late'])
  })

  it('keeps an object that gets an owner while its absent ones are looked up', async () => {
    const { uid = '' } = (await create(configMap('solid'))).metadata
    const absent = Array.from({ length: many }, (_, i) => ({ ...ownerOf(`absent-${i}`), uid: `none-${i}` }))
    let change: Promise<unknown> | undefined
    onRead = name => {
      if (name !== 'absent-9') return
      change ??= shard.client.update(configMaps, { cluster, namespace, name: 'owned' }, current => ({
        ...current,
        metadata: { ...current.metadata, ownerReferences: [ownerOf('solid', uid)] },
      }))
    }
    await create(configMap('owned', absent))
    await collector.idle()
    await change
    await turn()
    await collector.idle()
    assert.deepEqual((await names()).toSorted(), ['owned', 'solid'])
  })
})
