import type { IndexFn, Informer, Informers } from '../framework/contract/informer.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { isClusterName } from '../framework/request/path.ts'
import { pathAnnotation } from '../kcp/annotations.ts'
import { logicalClusterName, onlyCluster } from '../kcp/logicalclusters.ts'
import { resources } from '../kcp/resources.ts'

/** The logical clusters of a shard, and their paths in the workspace tree. */
export interface RemoteDirectory {
  has(cluster: ClusterName): boolean
  /** `root:org:team` → `k3x9…`, if only one has this path; the name of an existing logical cluster resolves to itself. */
  resolve(path: string): ClusterName | undefined
}

const pathOf: IndexFn = ({ meta }) => {
  const path = meta.annotations[pathAnnotation]
  return path === undefined ? [] : [path]
}

/** Reads the path of each LogicalCluster from its annotations. */
export function createDirectory(informers: Informers): RemoteDirectory {
  const informer: Informer = informers.for(resources.logicalClusters)
  const byPath = informer.index(pathOf)
  const has = (cluster: ClusterName): boolean => informer.get(cluster, '', logicalClusterName) !== undefined
  return {
    has,
    resolve: path => {
      if (isClusterName(path)) return has(path) ? path : undefined
      return onlyCluster(byPath(path))
    },
  }
}
