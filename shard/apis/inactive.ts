import { forbidden, type StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope } from '../../framework/meta/object.ts'
import type { RequestInfo } from '../../framework/request/requestinfo.ts'
import { inactiveAnnotation } from '../../kcp/annotations.ts'
import { coreGroup } from '../../kcp/apigroups.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import type { WatchEnds } from './ends.ts'
import { customSegment } from './served.ts'

/**
 * Logical clusters with the annotation `core.kcp.io/inactive`
 * (`pkg/server/filters/inactivelogicalcluster.go` of kcp).
 */
export interface Inactive {
  /** The refusal of a request to an inactive cluster; undefined when the cluster is active. */
  refusal(cluster: ClusterScope, info: RequestInfo): StatusError | undefined
}

const older = 'internal.kcp.io/inactive'
/** Paths that are served nevertheless, so that the cluster can be activated again. */
const exceptions = ['/openapi', '/apis/core.kcp.io/v1alpha1/logicalclusters']

/** Also ends the watches of a cluster that becomes inactive. */
export function followInactive(cache: WatchCache, ends: WatchEnds): Inactive {
  const clusters = new Set<ClusterName>()
  const homes = cache.resource(coreGroup, 'logicalclusters', customSegment)
  const follow: Parameters<typeof homes.subscribe>[0] = ({ type, item: { cluster, meta } }) => {
    const { annotations } = meta
    const isOff = annotations[inactiveAnnotation] === 'true' || annotations[older] === 'true'
    if (type === 'DELETED' || !isOff) clusters.delete(cluster)
    else if (!clusters.has(cluster)) {
      clusters.add(cluster)
      ends.endAll(cluster)
    }
  }
  homes.subscribe(follow, { replay: true })
  return {
    refusal(cluster, { path }) {
      if (!clusters.has(cluster) || exceptions.some(exception => path.startsWith(exception))) return undefined
      const about = { group: coreGroup, resource: 'logicalclusters', name: cluster }
      return forbidden(about, 'logical cluster is marked inactive')
    },
  }
}
