import type { Host, Informer, ResourceRef } from '../../../framework/index.ts'
import { type LogicalCluster, logicalClusterName, resources, type WorkspaceType } from '../../../kcp/index.ts'

import { tenancyExported, workspaceTypesRef } from '../exports/tenancy.ts'
import type { TypeReference } from './stage.ts'

/** Logical clusters and workspace types in memory, kept up to date. */
export interface Clusters {
  readonly informer: Informer
  get(cluster: string): LogicalCluster | undefined
  /** A type of this shard or of another one. */
  type(reference: TypeReference): WorkspaceType | undefined
  /** Where workspace types are stored. Throws an `Error` before `synced`. */
  readonly types: ResourceRef
  readonly synced: Promise<unknown>
}

/** Logical clusters of this shard; exports and workspace types of all shards. */
export function watchClusters({ informers, shared }: Host): Clusters {
  const anywhere = shared?.informers ?? informers
  const clusters = informers.for(resources.logicalClusters)
  const exports = anywhere.for(resources.apiExports)
  const types = (): readonly Informer[] => [informers, anywhere].map(of => of.for(workspaceTypesRef(exports)))
  const synced = async (): Promise<void> => {
    await tenancyExported(exports)
    await Promise.all([clusters, ...types()].map(informer => informer.synced))
  }
  return {
    informer: clusters,
    get: cluster => clusters.get(cluster, '', logicalClusterName)?.object as LogicalCluster | undefined,
    type({ cluster, name }) {
      const [own, others] = types().map(informer => informer.get(cluster, '', name))
      return (own ?? others)?.object as WorkspaceType | undefined
    },
    get types() {
      return workspaceTypesRef(exports)
    },
    synced: synced(),
  }
}
