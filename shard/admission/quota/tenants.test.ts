import assert from 'node:assert/strict'
import type { StatusError } from '../../../framework/meta/errors.ts'
import { clusterNameKey, loopback, type UserInfo } from '../../../framework/request/user.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import { openKcpShard } from '../../testing/kcpshard.ts'
import type { TestShard } from '../../testing/shard.ts'
import { noQuota } from './quota.ts'

const named = (name: string): UserInfo => ({ name, groups: ['system:authenticated'] })
const [alice, bob] = [named('alice'), named('bob')]
const size = 10_000
/** For what tenants create, besides the objects of the installation. */
const room = 90 * size

interface Scene {
  shard: TestShard
  store: Store
}

async function open(store: Store, used: number): Promise<TestShard> {
  const { shard } = await openKcpShard({ store, quota: { ...noQuota, totalBytes: used + room } })
  return shard
}

function bytesOf(shard: TestShard): number {
  let sum = 0
  for (const resource of shard.cache.resources()) for (const item of resource.items()) sum += item.length
  return sum
}

/** The LogicalCluster of a workspace below `parent` that a user created; an administrator without `creator`. */
const logicalCluster = (parent: string, creator?: Partial<UserInfo>): LogicalCluster => ({
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster' },
  spec: {
    owner: {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      resource: 'workspaces',
      name: 'w',
      cluster: parent,
      uid: '1',
    },
    ...(creator && {
      createdBy: { username: creator.name ?? '', ...(creator.extra && { extra: creator.extra }) },
    }),
  },
})

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { text: 'x'.repeat(size) },
})

/** A copy of a schema that a logical cluster has. */
const copyOf = (cluster: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.example.com`,
    annotations: { 'apis.kcp.io/schema-cluster': cluster, 'example.com/text': 'x'.repeat(size) },
  },
  spec: {
    ...{ group: 'example.com', scope: 'Cluster', names: { plural, kind: plural } },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

describe('the shares of tenants in the bytes of all logical clusters', () => {
  const scene = {} as Scene

  beforeEach(async () => {
    scene.store = openMemoryStore()
    scene.shard = await open(scene.store, 0)
    const used = bytesOf(scene.shard)
    await scene.shard.stop()
    scene.shard = await open(scene.store, used)
  })
  afterEach(async () => {
    await scene.shard.stop()
    await scene.store.close()
  })

  async function workspace(cluster: string, parent: string, creator?: Partial<UserInfo>): Promise<void> {
    const { client } = scene.shard
    const home = { cluster, namespace: '', name: 'cluster' }
    await client.create(resources.logicalClusters, home, logicalCluster(parent, creator))
    await client.create(resources.namespaces, { cluster, namespace: '', name: 'default' }, namespace)
  }

  async function write(user: UserInfo, cluster: string, name: string): Promise<void> {
    const ctx = { ...scene.shard.context(resources.configMaps, cluster), user, actAs: user }
    const key = { cluster, namespace: 'default', name }
    const options = { dryRun: false, fieldManager: '' }
    await scene.shard.backend.storage(resources.configMaps).create(ctx, key, configMap(name), options)
  }

  /** Creates objects in turn until all logical clusters refuse; returns how many were created, and the last refusal. */
  async function fill(user: UserInfo, ...clusters: readonly string[]) {
    let [created, refusals, refusal] = [0, 0, '']
    for (let i = 0; refusals < clusters.length; i++)
      try {
        await write(user, clusters[i % clusters.length] ?? '', `c-${i}`)
        created++
        refusals = 0
      } catch (error) {
        refusals++
        refusal = (error as StatusError).message
      }
    return { created, refusal }
  }

  it('are not used up by a user with the name of the account of a logical cluster', async () => {
    await workspace('b', 'root', bob)
    const mallory = named('cluster:b')
    for (const cluster of ['m1', 'm2', 'm3']) await workspace(cluster, 'root', mallory)
    await fill(mallory, 'm1', 'm2', 'm3')
    const others = await fill(bob, 'b')
    assert.ok(others.created >= 5, `${others.created}`)
  })

  it('leave a ninth of the room to those who come later, although a user has many workspaces', async () => {
    for (const cluster of ['a1', 'a2', 'a3']) await workspace(cluster, 'root', alice)
    await workspace('b', 'root', bob)
    const { created, refusal } = await fill(alice, 'a1', 'a2', 'a3')
    assert.ok(created > 65 && created < 80, `${created}`)
    assert.match(
      refusal,
      /^configmaps "c-\d+" is forbidden: (user "alice"|logical cluster "a\d") has reached its limit of bytes in the server \(\d+\/\d+\); delete objects/,
    )
    const others = await fill(bob, 'b')
    assert.ok(others.created >= 5, `${others.created}`)
    await write(loopback, 'a1', 'system')
  })

  it('are those of the user for workspaces below, and for those that service accounts create', async () => {
    await workspace('a', 'root', alice)
    await workspace('below', 'a', bob)
    const account = { name: 'system:serviceaccount:default:x', extra: { [clusterNameKey]: ['below'] } }
    await workspace('accounts', 'root', account)
    await workspace('b', 'root', bob)
    const { created } = await fill(alice, 'a', 'below', 'accounts')
    assert.ok(created > 65 && created < 80, `${created}`)
    const others = await fill(bob, 'b')
    assert.ok(others.created >= 5, `${others.created}`)
  })

  it('divide what one user may use among the workspaces of this user', async () => {
    await workspace('first', 'root', alice)
    await workspace('second', 'root', alice)
    const { refusal } = await fill(alice, 'first')
    assert.match(refusal, /logical cluster "first" has reached its limit of bytes in the server/)
    await write(alice, 'second', 'own')
  })

  it('are of their own for workspaces of administrators', async () => {
    await workspace('org1', 'root')
    await workspace('org2', 'org1')
    const { refusal } = await fill(alice, 'org1')
    assert.match(refusal, /logical cluster "org1" has reached its limit of bytes in the server/)
    await write(alice, 'org2', 'own')
  })

  it('grow again by deletions, and are the same after a restart', async () => {
    await workspace('a', 'root', alice)
    await fill(alice, 'a')
    await scene.shard.client.delete(resources.configMaps, { cluster: 'a', namespace: 'default', name: 'c-0' })
    await write(alice, 'a', 'again')
    await assert.rejects(write(alice, 'a', 'more'), /has reached its limit of bytes in the server/)
    const used = bytesOf(scene.shard)
    await scene.shard.stop()
    scene.shard = await open(scene.store, 0)
    await assert.rejects(write(alice, 'a', 'more'), /has reached its limit of bytes in the server/)
    await scene.shard.stop()
    scene.shard = await open(scene.store, used)
    await write(alice, 'a', 'more')
  })

  it('include the copies of bound schemas, which outlive the schemas', async () => {
    await workspace('a', 'root', alice)
    await workspace('b', 'root', bob)
    const copies = Array.from({ length: 40 }, (_, i) => copyOf('a', `copies${i}`))
    const keyOf = (name: string) => ({ cluster: boundCRDsCluster, namespace: '', name })
    for (const copy of copies)
      await scene.shard.client.create(resources.crds, keyOf(copy.metadata.name), copy)
    const { created, refusal } = await fill(alice, 'a')
    assert.ok(created > 20 && created < 35, `${created}`)
    assert.match(refusal, /logical cluster "a" has reached its limit of bytes in the server/)
    const others = await fill(bob, 'b')
    assert.ok(others.created >= 5, `${others.created}`)
  })

  it('end, although two logical clusters name each other', async () => {
    const of = (cluster: string) => ({
      name: 'system:serviceaccount:default:x',
      extra: { [clusterNameKey]: [cluster] },
    })
    await workspace('one', 'root', of('two'))
    await workspace('two', 'one', of('one'))
    await fill(alice, 'one', 'two')
    await scene.shard.stop()
    scene.shard = await open(scene.store, 0)
    await assert.rejects(write(alice, 'two', 'more'), /has reached its limit of bytes/)
  })
})
