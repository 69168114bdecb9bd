import { isDeepStrictEqual } from 'node:util'
import { type Item, type ItemEvent, isCopied } from '../../../framework/contract/item.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { matchesLabels } from '../../../framework/selectors/selectors.ts'
import { topologyGroup } from '../../../kcp/apigroups.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import { type MetaV1LabelSelector, requirementsOf } from '../../../kcp/selector.ts'
import type { Partition, PartitionSet } from '../../../kcp/topology.ts'
import { clusterScoped, ifFound, updateStatus } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'

/**
 * Creates a Partition for each combination of values that the labels of shards have for the dimensions of a PartitionSet, and
 * deletes those without a shard (kcp `pkg/reconciler/topology/partitionset`).
 */
export function partitionSetController(deps: KcpControllerDeps): Controller {
  const { informers, tenancy } = deps
  const sets = informers.for(tenancy.partitionSets)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const found = sets.get(cluster, '', name)
    if (found === undefined || isCopied(found.meta) || found.object.metadata.deletionTimestamp) return
    const set = found.object as PartitionSet
    const wanted = selectorsOf(set, shardLabels(deps))
    try {
      await divide(deps, found, wanted)
    } catch (error) {
      await report(deps, found, wanted.size, notReady(error))
      throw error
    }
    await report(deps, found, wanted.size, isTrue('PartitionsReady'))
  }
  return createController(
    {
      name: 'partitionset',
      reconcile,
      sources: [
        { informer: sets, keys: ({ item }) => [keyOf(item)] },
        { informer: informers.for(tenancy.shards), keys: () => sets.list().map(keyOf) },
        { informer: informers.for(tenancy.partitions), keys: ownerKeys },
      ],
    },
    deps.log,
  )
}

type Labels = Readonly<Record<string, string>>

const shardLabels = ({ informers, tenancy }: KcpControllerDeps): readonly Labels[] =>
  informers
    .for(tenancy.shards)
    .list('root')
    .map(({ meta }) => meta.labels)

/** The selectors of the partitions, by a key that is the same for the same labels. */
function selectorsOf({ spec }: PartitionSet, shards: readonly Labels[]): Map<string, MetaV1LabelSelector> {
  const { dimensions = [], shardSelector = {} } = spec ?? {}
  const keys = [...new Set([...dimensions, ...Object.keys(shardSelector.matchLabels ?? {})])].toSorted()
  const { matchExpressions } = shardSelector
  const selector = requirementsOf(shardSelector)
  const found = new Map<string, MetaV1LabelSelector>()
  for (const labels of shards) {
    if (keys.length === 0 || !matchesLabels(selector, labels)) continue
    if (!keys.every(key => Object.hasOwn(labels, key))) continue
    const entries = keys.map(key => [key, labels[key] ?? ''] as const)
    const matchLabels = Object.fromEntries(entries)
    found.set(JSON.stringify(entries), { matchLabels, ...(matchExpressions && { matchExpressions }) })
  }
  return found
}

/** Deletes the partitions of the set that are not wanted, and creates the missing ones. */
async function divide(
  { client, informers, tenancy }: KcpControllerDeps,
  set: Item,
  wanted: ReadonlyMap<string, MetaV1LabelSelector>,
): Promise<void> {
  const { cluster } = set.key
  const missing = new Map(wanted)
  const owned = informers
    .for(tenancy.partitions)
    .list(cluster)
    .filter(item => ownersOf(item).some(({ uid }) => uid === set.meta.uid))
  for (const { key, object } of owned) {
    const selector = (object as Partition).spec?.selector ?? {}
    const kept = [...missing].find(([, other]) => isSame(selector, other))
    if (kept !== undefined) missing.delete(kept[0])
    else await ifFound(client.delete(tenancy.partitions, key))
  }
  for (const selector of missing.values())
    await client.create(tenancy.partitions, clusterScoped(cluster, ''), partitionOf(set, selector))
}

const isSame = (a: MetaV1LabelSelector, b: MetaV1LabelSelector): boolean =>
  isDeepStrictEqual({ ...a.matchLabels }, { ...b.matchLabels }) &&
  isDeepStrictEqual(a.matchExpressions ?? [], b.matchExpressions ?? [])

const apiVersion = `${topologyGroup}/v1alpha1`
const ownKind = 'PartitionSet'

function partitionOf({ key: { name }, meta, object }: Item, selector: MetaV1LabelSelector): Partition {
  const { dimensions = [] } = (object as PartitionSet).spec ?? {}
  const values = [...new Set(dimensions)].toSorted().map(label => selector.matchLabels?.[label] ?? '')
  const owner = { apiVersion, kind: ownKind, name, uid: meta.uid }
  const generateName = `${[name, ...values].join('-').toLowerCase().slice(0, longestPrefix)}-`
  const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }]
  return { apiVersion, kind: 'Partition', metadata: { generateName, ownerReferences }, spec: { selector } }
}

/** One less than the longest name of an object; the prefix of a generated name is shortened further. */
const longestPrefix = 252

const ownersOf = ({ object }: Item): readonly { readonly kind?: string; name?: string; uid?: string }[] =>
  object.metadata.ownerReferences ?? []

const ownerKeys = ({ item }: ItemEvent): readonly string[] =>
  ownersOf(item).flatMap(({ kind, name }) =>
    kind === ownKind && name !== undefined ? [keyFor(item.key.cluster as ClusterName, name)] : [],
  )

const notReady = (error: unknown): ConditionState =>
  isFalse('PartitionsReady', 'Error', 'ErrorGeneratingPartitions', (error as Error).message)

const report = (
  { client, tenancy }: KcpControllerDeps,
  { key }: Item,
  count: number,
  ready: ConditionState,
): Promise<unknown> =>
  updateStatus<PartitionSet>(client, tenancy.partitionSets, key, current => {
    const { count: _, ...status } = current.status ?? {}
    const conditions = setConditions(status.conditions, [isTrue('PartitionSetValid'), ready])
    return { ...current, status: { ...status, ...(count > 0 && { count }), conditions } }
  })
