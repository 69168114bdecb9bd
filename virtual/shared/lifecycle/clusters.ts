import type { Host, Informer, ResourceRef } from '../../../framework/index.ts'
import type { LogicalCluster, WorkspaceType } from '../../../kcp/index.ts'
import { resources } from '../../../kcp/index.ts'
import { tenancyExported, workspaceTypesRef } from '../exports/tenancy.ts'
import type { TypeReference } from './stage.ts'

/** What the views know of logical clusters and workspace types: look-ups in memory, kept up to date. */
export interface Clusters {
  readonly informer: Informer
  get(cluster: string): LogicalCluster | undefined
  /** This shard's, or any other's. */
  type(reference: TypeReference): WorkspaceType | undefined
  /** Where workspace types are stored. Throws an `Error` before `synced`. */
  readonly types: ResourceRef
  readonly synced: Promise<unknown>
}

/** Logical clusters are those of this shard; the export of their types, and the types, may be on any. */
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
    get: cluster => clusters.get(cluster, '', 'cluster')?.object as LogicalCluster | undefined,
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
