import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { groupResource } from '../../../framework/meta/object.ts'
import { maxObjectsAnnotation } from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import type { WatchCache } from '../../cache/watchcache.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { refused } from './refusal.ts'

export interface ObjectCountDeps {
  readonly directory: ClusterDirectory
  readonly cache: WatchCache
  /** The limit for logical clusters without the annotation; 0: no limit. */
  readonly limit: number
}

/**
 * Limits the number of objects in a logical cluster (kcp `pkg/admission/objectcountlimit`). Objects are counted
 * only where there is a limit.
 */
export const objectCountLimit = ({ directory, cache, limit }: ObjectCountDeps): AdmissionPlugin => ({
  name: 'core.kcp.io/LogicalClusterObjectCountLimit',
  handles: { operations: ['CREATE'] },
  validate(_ctx, request) {
    const { operation, subresource, key } = request
    if (operation !== 'CREATE' || subresource !== '' || isExempt(request)) return
    const home = directory.logicalCluster(key.cluster)
    if (home === undefined || home.status?.phase !== 'Ready') return
    const most = limitOf(home, key.cluster, limit)
    if (most <= 0) return
    const count = countOf(cache, key.cluster)
    if (count < most) return
    const reached = `has reached its total object count limit (${count}/${most} objects)`
    throw refused(request, `logical cluster "${key.cluster}" ${reached}; delete objects to free up capacity`)
  },
})

/** Objects that a logical cluster needs, and those that report why it is full. */
function isExempt({ group, resource, key }: AdmissionAttributes): boolean {
  const name = groupResource(group, resource)
  return (
    uncounted.has(name) ||
    (name === 'clusterrolebindings.rbac.authorization.k8s.io' && key.name === 'workspace-admin')
  )
}

const uncounted: ReadonlySet<string> = new Set([
  'events',
  'events.events.k8s.io',
  'logicalclusters.core.kcp.io',
])

function limitOf({ metadata }: LogicalCluster, cluster: string, limit: number): number {
  const annotation = metadata.annotations?.[maxObjectsAnnotation]
  if (annotation !== undefined && /^[+-]?\d+$/.test(annotation)) return Number(annotation)
  return cluster === 'root' ? 0 : limit
}

function countOf(cache: WatchCache, cluster: string): number {
  let count = 0
  for (const each of cache.resources()) {
    const { group, resource } = each.resource
    if (!uncounted.has(groupResource(group, resource))) count += each.count(cluster)
  }
  return count
}
