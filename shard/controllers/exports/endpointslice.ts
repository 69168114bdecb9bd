import type { Informer } from '../../../framework/contract/informer.ts'
import type { ItemEvent } from '../../../framework/contract/item.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { formatLabelSelector } from '../../../framework/selectors/selectors.ts'
import { isCopy } from '../../../kcp/annotations.ts'
import type { APIExportEndpointSlice } from '../../../kcp/apis.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import { resources } from '../../../kcp/resources.ts'
import { type MetaV1LabelSelector, requirementsOf, selectorProblem } from '../../../kcp/selector.ts'
import { clusterScoped, updateStatus } from '../client.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'

interface Finding {
  readonly conditions: readonly ConditionState[]
  readonly shardSelector: string
  /** The export or the partition does not exist: the endpoints are removed. */
  readonly clear: boolean
}

/** Reports whether a slice's export and partition exist; the view publishes the URLs itself. */
export function endpointSliceController(deps: KcpControllerDeps): Controller {
  const { client, directory, informers, tenancy } = deps
  const slices = informers.for(resources.endpointSlices)
  const byExportName = slices.index(({ object }) => [exportOf(object)?.name ?? ''])
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const slice = slices.get(cluster, '', name)?.object as APIExportEndpointSlice | undefined
    if (slice === undefined || isCopy(slice) || slice.metadata.deletionTimestamp !== undefined) return
    const finding = examine(deps, cluster, slice)
    const target = clusterScoped(cluster, name)
    await updateStatus<APIExportEndpointSlice>(client, resources.endpointSlices, target, current => ({
      ...current,
      status: statusOf(current, finding),
    }))
  }
  // Found by the name only: a path leads to another logical cluster later, or to none until shards are connected.
  const ofExport = ({ type, item: { key } }: ItemEvent): readonly string[] =>
    type === 'MODIFIED'
      ? []
      : byExportName(key.name)
          .filter(slice =>
            mayLead(directory.referencedCluster(exportOf(slice.object) ?? {}, slice.key.cluster), key),
          )
          .map(keyOf)
  const ofPartition = slicesOfPartition(slices)
  return createController(
    {
      name: 'apiexportendpointslice',
      reconcile,
      sources: [
        { informer: slices, keys: ({ item }) => [keyOf(item)] },
        { informer: informers.for(resources.apiExports), keys: ofExport },
        { informer: informers.for(tenancy.partitions), keys: ofPartition },
      ],
    },
    deps.log,
  )
}

/** Finds the keys of the slices that name a partition of their logical cluster. */
export function slicesOfPartition(slices: Informer): (event: ItemEvent) => readonly string[] {
  const byPartition = slices.index(({ key, object }) => {
    const { partition } = (object as APIExportEndpointSlice).spec ?? {}
    return partition === undefined ? [] : [keyFor(key.cluster, partition)]
  })
  return ({ item }) => byPartition(keyOf(item)).map(keyOf)
}

const exportOf = (slice: KubeObject) => (slice as APIExportEndpointSlice).spec?.export

/** Whether a reference leads to the logical cluster of an object, or to none that is known. */
const mayLead = (cluster: ClusterName | undefined, key: { readonly cluster: ClusterName }): boolean =>
  cluster === undefined || cluster === key.cluster

function statusOf(
  { status = {} }: APIExportEndpointSlice,
  { conditions, shardSelector, clear }: Finding,
): NonNullable<APIExportEndpointSlice['status']> {
  const { endpoints, ...rest } = status
  return {
    ...rest,
    conditions: setConditions(status.conditions, conditions),
    shardSelector,
    ...(endpoints === undefined || clear ? {} : { endpoints }),
  }
}

function examine(deps: KcpControllerDeps, cluster: string, slice: APIExportEndpointSlice): Finding {
  const exported = exportCondition(deps, cluster, slice)
  const partition = partitionOf(deps, cluster, slice.spec?.partition)
  return {
    conditions: [exported, partition.condition],
    shardSelector: partition.selector,
    clear: exported.status === 'False' || !partition.exists,
  }
}

function exportCondition(
  { directory }: KcpControllerDeps,
  from: string,
  { spec }: APIExportEndpointSlice,
): ConditionState {
  const { name = '', path } = spec?.export ?? {}
  const cluster = directory.referencedCluster(path === undefined ? {} : { path }, from)
  if (cluster !== undefined && directory.apiExport(cluster, name) !== undefined)
    return isTrue('APIExportValid')
  const message = `Error getting APIExport ${path || from}|${name}`
  return isFalse('APIExportValid', 'Error', 'APIExportNotFound', message)
}

/** What a slice says of the partition that it names. */
interface PartitionFinding {
  readonly condition: ConditionState
  readonly selector: string
  readonly exists: boolean
}

/** The condition of the partition that a slice names, and its selector. */
export function partitionOf(
  { informers, tenancy }: KcpControllerDeps,
  cluster: string,
  name: string | undefined,
): PartitionFinding {
  if (!name) return { condition: isTrue('PartitionValid'), selector: '', exists: true }
  const partition = informers.for(tenancy.partitions).get(cluster, '', name)?.object
  if (partition === undefined) {
    const message = `partitions.topology.kcp.io "${name}" not found`
    return { condition: invalidReference(message), selector: '', exists: false }
  }
  const { selector = {} } = (partition.spec ?? {}) as { readonly selector?: MetaV1LabelSelector }
  const problem = selectorProblem(selector)
  if (problem !== undefined) return { condition: invalidReference(problem), selector: '', exists: true }
  return {
    condition: isTrue('PartitionValid'),
    selector: formatLabelSelector(requirementsOf(selector)),
    exists: true,
  }
}

const invalidReference = (message: string): ConditionState =>
  isFalse('PartitionValid', 'Error', 'PartitionInvalidReference', message)
