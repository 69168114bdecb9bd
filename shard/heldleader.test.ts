import assert from 'node:assert/strict'
import type { KubeObject } from '../framework/meta/object.ts'
import { localAdminCluster } from '../kcp/logicalclusters.ts'
import { resources } from '../kcp/resources.ts'
import type { ShardHost } from './controllers/host.ts'
import { admissionLease } from './registry/conditions.ts'
import { openMemoryStore } from './store/memory.ts'
import type { Store } from './store/store.ts'
import { behindStore } from './testing/behindstore.ts'
import { type TestShard, testShard, until } from './testing/shard.ts'
import { SlowAdmission } from './testing/slowadmission.ts'

const inAdmin = { cluster: localAdminCluster, namespace: '' }
const kubeSystem = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } }
const role: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'late' },
}
const other = { ...role, metadata: { name: 'other' } }
const lease = { ...inAdmin, namespace: 'kube-system', name: 'oriel-controllers' }

describe('an object that a controller creates while its server loses the Lease', () => {
  let store: Store
  let shard: TestShard
  let slow: SlowAdmission
  let creating: Promise<unknown> | undefined
  let hasStopped: boolean
  let running: Promise<void>
  beforeEach(async () => {
    hasStopped = false
    store = openMemoryStore()
    slow = new SlowAdmission(['clusterroles'])
    const controllers = ({ client }: ShardHost) => [
      {
        name: 'test',
        idle: () => Promise.resolve(),
        async run(signal: AbortSignal) {
          creating = client.create(resources.clusterRoles, { ...inAdmin, name: 'late' }, role)
          creating.catch(() => undefined)
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          hasStopped = true
        },
      },
    ]
    shard = await testShard({ store: behindStore(store), controllers, admission: () => [slow.plugin] })
    await shard.addCluster(localAdminCluster)
    await shard.client.create(resources.namespaces, { ...inAdmin, name: 'kube-system' }, kubeSystem)
    running = shard.run()
  })
  afterEach(async () => {
    slow.open()
    await shard.stop()
    await running
    await store.close()
  })

  it('is not stored after that, although a webhook admits it later', async () => {
    await slow.holds()
    await shard.client.update(resources.leases, lease, object => ({
      ...object,
      spec: { holderIdentity: 'another', leaseDurationSeconds: 600 },
    }))
    await until(() => hasStopped || undefined)
    await assert.rejects(creating ?? Promise.resolve(), { code: 503 })
    slow.open()
    // This one is later.
    await shard.client.create(resources.clusterRoles, { ...inAdmin, name: 'other' }, other)
    const stored = await shard.client.list(resources.clusterRoles, localAdminCluster)
    assert.deepEqual(
      stored.map(({ key }) => key.name),
      ['other'],
    )
  })

  it('has to be admitted again when the next server begins: the Lease oriel-admission is written', async () => {
    await slow.holds()
    assert.ok(
      shard.informers.for(resources.leases).get(localAdminCluster, 'kube-system', admissionLease.name),
    )
  })
})

describe('objects that a controller transfers while its server loses the Lease', () => {
  it('are not stored when the next server has begun before they arrive', async () => {
    const store = openMemoryStore()
    const [own, next] = [behindStore(store), await testShard({ store: behindStore(store) })]
    const key = '/migrating/late'
    let arrive = (): void => undefined
    const arriving = new Promise<void>(resolve => {
      arrive = resolve
    })
    let sent: Promise<unknown> | undefined
    const { commit } = own
    own.commit = (changes, conditions) => {
      if (changes[0]?.key !== key) return commit(changes, conditions)
      const committed = arriving.then(() => commit(changes, conditions))
      sent = committed.catch(() => undefined)
      return committed
    }
    let hasEnded = false
    const controllers = ({ content }: ShardHost) => [
      {
        name: 'test',
        idle: () => Promise.resolve(),
        run: async () => {
          await assert.rejects(content.transfer([{ key, value: Buffer.from('x') }]), { code: 503 })
          hasEnded = true
        },
      },
    ]
    const shard = await testShard({ store: own, controllers })
    await shard.addCluster(localAdminCluster)
    await shard.client.create(resources.namespaces, { ...inAdmin, name: 'kube-system' }, kubeSystem)
    const running = shard.run()
    await until(() => sent !== undefined || undefined)
    await shard.client.update(resources.leases, lease, object => ({
      ...object,
      spec: { holderIdentity: 'another', leaseDurationSeconds: 600 },
    }))
    await until(() => hasEnded || undefined)
    await next.content.commit(next.content.admissionEnd())
    arrive()
    await sent
    // This one is later.
    await next.content.commit([{ key: '/other', value: Buffer.from('x') }])
    assert.equal(await store.get(key), undefined)
    await shard.stop()
    await running
    await next.stop()
    await store.close()
  })
})
