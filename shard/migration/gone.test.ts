import assert from 'node:assert/strict'
import { originAnnotation } from '../../framework/contract/item.ts'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { incomingAnnotation, leavingAnnotation, migratingAnnotation } from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { encodeStored, registryPrefix, storageKey } from '../cache/codec.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { advance } from './controller.ts'
import { keysOfWaiting } from './destination.ts'
import { settle } from './gone.ts'
import { keyOfCluster, rawCluster } from './rawcluster.ts'
import { stepOf } from './testing/step.ts'

type Annotations = Readonly<Record<string, string>>

const key = 'root|move'
const closed = { [migratingAnnotation]: 'root:move' }
const arriving = { ...closed, [incomingAnnotation]: 'alpha,7' }
const arrived = { ...closed, [incomingAnnotation]: 'alpha,7,complete' }
const place = storageKey(storedResourceOf(resources.configMaps), {
  cluster: 'moving',
  namespace: 'default',
  name: 'kept',
})
const waiting = `/migrating/root:move/${place.slice(registryPrefix.length)}`

const home = (annotations: Annotations): KubeObject => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', annotations },
})
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } }

describe('a migration that is gone', () => {
  let shard: TestShard
  /** What the shard alpha has of the LogicalCluster: an object, or an error of this code. */
  let there: KubeObject | number
  beforeEach(async () => {
    shard = await testShard()
  })
  afterEach(() => shard.stop())

  const deps = (): KcpControllerDeps => {
    const get = async (): Promise<KubeObject> => {
      if (typeof there === 'number') throw new StatusError(there, '', `answer ${there}`)
      return there
    }
    const { content, informers } = shard
    const tenancy = { workspaceTypes: resources.apiExports, shards: resources.apiExports }
    const peers = new Map([['alpha', { get } as unknown as PeerClient]])
    const own = { content, informers, tenancy, peers, shard: { name: 'beta' }, log: silent }
    return own as unknown as KcpControllerDeps
  }
  const put = (annotations: Annotations, at = waiting): Promise<unknown> =>
    shard.content.transfer([
      { key: keyOfCluster('moving'), value: encodeStored(home(annotations)) },
      { key: at, value: encodeStored(configMap) },
    ])
  const annotations = async (): Promise<Annotations | undefined> =>
    (await rawCluster(shard.content, 'moving'))?.object.metadata.annotations
  const has = async (at: string): Promise<boolean> => (await shard.store.get(at)) !== undefined
  const end = (): Promise<void> => settle({ deps: deps(), key }, 'moving')

  it('leaves nothing at the destination that has not copied everything', async () => {
    await put(arriving)
    there = 503
    assert.deepEqual(await keysOfWaiting(deps()), [key])
    await end()
    assert.equal(await annotations(), undefined)
    assert.deepEqual([await has(waiting), await has(place)], [false, false])
    assert.deepEqual(await keysOfWaiting(deps()), [])
  })

  it('leaves nothing at the destination while the origin has the objects', async () => {
    await put(arrived)
    there = home({})
    await end()
    assert.equal(await annotations(), undefined)
    assert.deepEqual([await has(waiting), await has(place)], [false, false])
  })

  it('has no effect at the destination while the origin does not tell whether it has the objects', async () => {
    await put(arrived)
    for (there of [503, home(closed), home({ ...closed, [leavingAnnotation]: 'beta' })]) {
      await assert.rejects(end())
      assert.deepEqual(await annotations(), arrived)
      assert.equal(await has(waiting), true)
    }
  })

  it('loses no object when the origin has removed them', async () => {
    for (there of [404, 403, home({ [originAnnotation]: 'beta' })]) {
      await put(arrived)
      await end()
      assert.deepEqual([await has(waiting), await has(place)], [false, true])
      assert.equal((await annotations())?.[migratingAnnotation], undefined)
    }
  })

  it('loses no object either when it has failed after the origin has removed them', async () => {
    await put(arrived)
    const failed = stepOf({
      deps: deps(),
      write: async () => undefined,
      metadata: { name: 'move' },
      spec: { logicalCluster: 'moving', destinationShard: 'beta' },
      status: { phase: 'Failed', originShard: 'alpha' },
    })
    there = home(closed)
    await assert.rejects(advance(failed))
    assert.equal(await has(waiting), true)
    there = 404
    await advance(failed)
    assert.deepEqual([await has(waiting), await has(place)], [false, true])
  })

  it('copies what is missing when it says too early that all objects are here', async () => {
    await put(arriving)
    const phases: unknown[] = []
    const finalizing = stepOf({
      deps: deps(),
      write: async (_, __, change) => void phases.push('status' in change && change.status.phase),
      metadata: { name: 'move' },
      spec: { logicalCluster: 'moving', destinationShard: 'beta' },
      status: { phase: 'DestinationFinalize', originShard: 'alpha' },
    })
    await advance(finalizing)
    assert.deepEqual([phases, await has(waiting), await has(place)], [['Migrating'], true, false])
  })

  it('lets the origin that has removed some of the objects remove the others', async () => {
    await put({ ...closed, [leavingAnnotation]: 'gamma' }, place)
    await end()
    assert.equal(await has(place), false)
    assert.equal(await annotations(), undefined, 'the LogicalCluster is a copy')
  })
})
