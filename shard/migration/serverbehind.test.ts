import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import { migrationFinalizer } from '../../kcp/annotations.ts'
import { resources } from '../../kcp/resources.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { type BehindStore, behindStore } from '../testing/behindstore.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { SlowAdmission } from '../testing/slowadmission.ts'
import { prepare } from './origin.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'c1'
const roles = resources.clusterRoles
const role: KubeObject = { apiVersion: `${roles.group}/v1`, kind: 'ClusterRole', metadata: { name: 'a' } }
const key: ObjectKey = { cluster, namespace: '', name: 'a' }

describe('a write that a server admits while it does not know yet that the logical cluster moves', () => {
  let store: Store
  let leader: TestShard
  let late: TestShard
  let behind: BehindStore

  async function open(operation: 'CREATE' | 'UPDATE' | 'DELETE'): Promise<SlowAdmission> {
    const slow = new SlowAdmission(['clusterroles'], operation)
    store = openMemoryStore()
    leader = await testShard({ store: behindStore(store) })
    await leader.addCluster(cluster)
    behind = behindStore(store)
    late = await testShard({ store: behind, admission: () => [slow.plugin] })
    return slow
  }
  afterEach(async () => {
    await late.stop()
    await leader.stop()
    await store.close()
  })

  /** The first step of the migration at the origin. */
  function closed(): Promise<unknown> {
    const get = async () => ({ gitVersion: 'v1.33.0+oriel-0.1.0' })
    const { content, informers } = leader
    const peers = new Map([['beta', { get }]])
    const deps = { content, informers, peers, shard: { name: 'alpha' }, log: silent }
    return prepare(
      stepOf({
        deps,
        write: async () => undefined,
        metadata: { name: 'move', finalizers: [migrationFinalizer] },
        spec: { logicalCluster: cluster, destinationShard: 'beta' },
        status: { originShard: 'alpha' },
      }),
    )
  }

  async function refused(slow: SlowAdmission, write: () => Promise<unknown>): Promise<void> {
    const writing = write()
    writing.catch(() => undefined)
    await slow.holds()
    behind.fallBehind()
    await closed()
    const before = leader.store.revision
    slow.goOn()
    await assert.rejects(writing, { code: 503, message: /being migrated/ })
    assert.equal(leader.store.revision, before)
  }

  async function addRole(): Promise<void> {
    await leader.client.create(roles, key, role)
    await until(() => late.informers.for(roles).get(cluster, '', 'a'))
  }

  it('is refused when it creates an object, which would be missing on the other shard', async () => {
    const slow = await open('CREATE')
    await refused(slow, () => late.client.create(roles, key, role))
  })

  it('is refused when it changes an object, which would have its state of before on the other shard', async () => {
    const slow = await open('UPDATE')
    await addRole()
    const labels = { changed: 'yes' }
    await refused(slow, () =>
      late.client.update(roles, key, current => ({ ...current, metadata: { ...current.metadata, labels } })),
    )
  })

  it('is refused when it deletes an object, which would live on on the other shard', async () => {
    const slow = await open('DELETE')
    await addRole()
    await refused(slow, () => late.client.delete(roles, key))
  })

  it('is refused when a controller removes an object without admission', async () => {
    await open('CREATE')
    await addRole()
    const role = late.content.get({ ...roles, segment: '-' }, key)
    assert.ok(role)
    behind.fallBehind()
    await closed()
    await assert.rejects(late.content.remove([role]), { code: 503, message: /being migrated/ })
    assert.equal((await leader.client.list(roles, cluster)).length, 1)
  })
})
