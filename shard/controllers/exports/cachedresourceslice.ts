import type { Informer } from '../../../framework/contract/informer.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { isCopy } from '../../../kcp/annotations.ts'
import { cacheGroup } from '../../../kcp/apigroups.ts'
import type { APIExport } from '../../../kcp/apis.ts'
import type { ClusterCachedResourceEndpointSlice } from '../../../kcp/cache.ts'
import { type ConditionState, isFalse, isTrue, setConditions } from '../../../kcp/conditions.ts'
import { resources } from '../../../kcp/resources.ts'
import { clusterScoped, updateStatus } from '../client.ts'
import {
  type Controller,
  type ControllerDefinition,
  createController,
  keyOf,
  parseKey,
} from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'
import { partitionOf, slicesOfPartition } from './endpointslice.ts'

type Slice = ClusterCachedResourceEndpointSlice

/** Reports whether the objects that a slice refers to exist; the view publishes the URLs itself. */
export function cachedResourceSliceController(deps: KcpControllerDeps): Controller {
  const { client, informers } = deps
  const slices = informers.for(resources.cachedResourceSlices)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const slice = slices.get(cluster, '', name)?.object as Slice | undefined
    if (slice === undefined || isCopy(slice) || slice.metadata.deletionTimestamp !== undefined) return
    await updateStatus<Slice>(
      client,
      resources.cachedResourceSlices,
      clusterScoped(cluster, name),
      current => ({
        ...current,
        status: statusOf(deps, cluster, current),
      }),
    )
  }
  return createController(
    { name: 'clustercachedresourceendpointslice', reconcile, sources: changesOf(deps, slices) },
    deps.log,
  )
}

/** Changes of the slice, of its partition, and of objects with the names that it refers to. */
function changesOf(
  { informers, tenancy }: KcpControllerDeps,
  slices: Informer,
): ControllerDefinition['sources'] {
  // A reference may name any workspace, and a path leads to another one later.
  const byResource = slices.index(({ object }) => [(object as Slice).spec.clusterCachedResource.name])
  const byExport = slices.index(({ object }) => [(object as Slice).spec.export.name])
  return [
    { informer: slices, keys: ({ item }) => [keyOf(item)] },
    {
      informer: informers.for(resources.clusterCachedResources),
      keys: ({ type, item }) => (type === 'MODIFIED' ? [] : byResource(item.key.name).map(keyOf)),
    },
    {
      informer: informers.for(resources.apiExports),
      keys: ({ item }) => byExport(item.key.name).map(keyOf),
    },
    { informer: informers.for(tenancy.partitions), keys: slicesOfPartition(slices) },
  ]
}

function statusOf(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  { metadata, spec, status = {} }: Slice,
): NonNullable<Slice['status']> {
  const partition = partitionOf(deps, cluster, spec.partition)
  const states = [
    resourceCondition(deps, cluster, spec),
    exportCondition(deps, cluster, spec.export, metadata.name ?? ''),
    partition.condition,
  ]
  const { endpoints, ...rest } = status
  const isValid = states.every(state => state.status === 'True')
  return {
    ...rest,
    conditions: setConditions(status.conditions, states),
    shardSelector: partition.selector,
    ...(endpoints === undefined || !isValid ? {} : { endpoints }),
  }
}

function resourceCondition(
  { directory, informers }: KcpControllerDeps,
  from: ClusterName,
  { clusterCachedResource: reference }: Slice['spec'],
): ConditionState {
  const cluster = directory.referencedCluster(reference, from)
  const cached = informers.for(resources.clusterCachedResources)
  if (cluster !== undefined && cached.get(cluster, '', reference.name) !== undefined)
    return isTrue('ResourceValid')
  const message = `Error getting ClusterCachedResource ${reference.path || from}|${reference.name}`
  return isFalse('ResourceValid', 'Error', 'ClusterCachedResourceNotFound', message)
}

/** The export has to exist and to reference the slice. */
function exportCondition(
  { directory }: KcpControllerDeps,
  from: ClusterName,
  reference: Slice['spec']['export'],
  slice: string,
): ConditionState {
  const cluster = directory.referencedCluster(reference, from)
  const exported = cluster === undefined ? undefined : directory.apiExport(cluster, reference.name)
  const id = `APIExport ${reference.path || from}|${reference.name}`
  const invalid = (message: string): ConditionState =>
    isFalse('APIExportValid', 'Error', 'APIExportInvalidReference', message)
  if (exported === undefined) return invalid(`${id} not found`)
  if (offers(exported, slice)) return isTrue('APIExportValid')
  return invalid(`${id} does not reference this ClusterCachedResourceEndpointSlice`)
}

const offers = ({ spec }: APIExport, slice: string): boolean =>
  (spec?.resources ?? []).some(({ storage }) => {
    const { apiGroup, kind, name } = storage?.virtual?.reference ?? {}
    return apiGroup === cacheGroup && kind === 'ClusterCachedResourceEndpointSlice' && name === slice
  })
