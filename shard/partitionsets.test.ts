import assert from 'node:assert/strict'
import type { KubeObject } from '../framework/meta/object.ts'
import { conditionIs } from '../kcp/conditions.ts'
import type { Partition, PartitionSet } from '../kcp/topology.ts'
import type { TenancyResources } from './controllers/host.ts'
import { type TestKcpShard, testKcpShard } from './testing/kcpshard.ts'
import { type TestShard, until } from './testing/shard.ts'

describe('PartitionSets', () => {
  let shard: TestShard
  let tenancy: TenancyResources
  let started: TestKcpShard
  const at = (name: string) => ({ cluster: 'root', namespace: '', name })
  const setNamed = (name: string): PartitionSet | undefined =>
    shard.informers.for(tenancy.partitionSets).get('root', '', name)?.object as PartitionSet | undefined
  const partitionsOf = (set: string): readonly Partition[] =>
    shard.informers
      .for(tenancy.partitions)
      .list('root')
      .map(({ object }) => object as Partition)
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === set))
  const labelsOf = (set: string): readonly unknown[] =>
    partitionsOf(set)
      .map(({ spec }) => JSON.stringify(spec?.selector?.matchLabels))
      .toSorted()
  const label = (name: string, labels: Record<string, string>): Promise<KubeObject> =>
    shard.client.update(tenancy.shards, at(name), current => ({
      ...current,
      metadata: { ...current.metadata, labels },
    }))
  const addShard = (name: string, labels: Record<string, string>): Promise<KubeObject> =>
    shard.client.create(tenancy.shards, at(name), {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'Shard',
      metadata: { name, labels },
      spec: { baseURL: 'https://base.example' },
    })
  const addSet = (name: string, spec: PartitionSet['spec']): Promise<KubeObject> =>
    shard.client.create(tenancy.partitionSets, at(name), {
      apiVersion: 'topology.kcp.io/v1alpha1',
      kind: 'PartitionSet',
      metadata: { name },
      spec,
    } as KubeObject)
  /** Waits until the status of a set has this count, and as many partitions exist. */
  const counted = (name: string, count: number): Promise<true> =>
    until(() => {
      const { status } = setNamed(name) ?? {}
      const isReady = conditionIs(status?.conditions, 'PartitionsReady', 'True')
      const isCounted = (status?.count ?? 0) === count && partitionsOf(name).length === count
      return isReady && isCounted ? true : undefined
    })

  before(async () => {
    started = await testKcpShard()
    shard = started.shard
    tenancy = started.tenancy
  })
  after(() => started.stop())

  it('have one Partition for each combination of labels of shards, which follows the shards', async () => {
    const matchExpressions = [{ key: 'excluded', operator: 'DoesNotExist' as const }]
    await addSet('regions', { dimensions: ['region'], shardSelector: { matchExpressions } })
    await counted('regions', 0)
    await addShard('a', { region: 'r1' })
    await counted('regions', 1)
    await addShard('b', { region: 'r2' })
    await counted('regions', 2)
    assert.deepEqual(labelsOf('regions'), ['{"region":"r1"}', '{"region":"r2"}'])
    for (const { spec } of partitionsOf('regions'))
      assert.deepEqual(spec?.selector?.matchExpressions, matchExpressions)
    await label('b', { region: 'r1' })
    await counted('regions', 1)
    await label('b', { region: 'r3', excluded: 'true' })
    await counted('regions', 1)
    assert.deepEqual(labelsOf('regions'), ['{"region":"r1"}'])
    assert.ok(conditionIs(setNamed('regions')?.status?.conditions, 'PartitionSetValid', 'True'))
  })

  it('have no Partition for a dimension that no shard has, also with the name of a member of every object', async () => {
    await addSet('odd', { dimensions: ['constructor'] })
    await counted('odd', 0)
  })

  it('name Partitions after the values, and own them', async () => {
    const long = (n: number): string => `label${n}-12345678901234567890123456789012345678901234567890`
    await addShard('long', { one: long(1), two: long(2) })
    await addSet('named', { dimensions: ['two', 'one', 'one'] })
    await counted('named', 1)
    const [partition] = partitionsOf('named')
    const { name = '', ownerReferences = [] } = partition?.metadata ?? {}
    assert.equal(name.slice(0, -5), `named-${long(1)}-${long(2)}`.slice(0, 58))
    const { uid = '' } = setNamed('named')?.metadata ?? {}
    assert.deepEqual(ownerReferences, [
      {
        apiVersion: 'topology.kcp.io/v1alpha1',
        kind: 'PartitionSet',
        name: 'named',
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
  })

  it('take the labels of their selector, create a deleted Partition again, and leave those of others', async () => {
    await shard.client.create(tenancy.partitions, at('mine'), {
      apiVersion: 'topology.kcp.io/v1alpha1',
      kind: 'Partition',
      metadata: { name: 'mine' },
      spec: { selector: { matchLabels: { region: 'r9' } } },
    } as KubeObject)
    await addShard('shared', { shared: 'true' })
    await addSet('by-selector', { shardSelector: { matchLabels: { shared: 'true' } } })
    await counted('by-selector', 1)
    assert.deepEqual(labelsOf('by-selector'), ['{"shared":"true"}'])
    const before = partitionsOf('by-selector')[0]?.metadata
    await shard.client.delete(tenancy.partitions, at(before?.name ?? ''))
    await until(() => {
      const found = partitionsOf('by-selector')[0]?.metadata.uid
      return found !== undefined && found !== before?.uid ? true : undefined
    })
    await shard.client.delete(tenancy.partitionSets, at('by-selector'))
    await until(() => (partitionsOf('by-selector').length === 0 ? true : undefined))
    assert.ok(shard.informers.for(tenancy.partitions).get('root', '', 'mine'))
  })
})
