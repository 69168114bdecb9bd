import type { Host, Informer, ResourceRef } from '../../framework/index.ts'
import type { TypeReference } from './stage.ts'
import type { LogicalCluster, WorkspaceType } from './types.ts'

const logicalClusters: ResourceRef = {
  group: 'core.kcp.io',
  version: 'v1alpha1',
  resource: 'logicalclusters',
}
const apiExports: ResourceRef = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apiexports' }

/** What the views know of logical clusters and workspace types: look-ups in memory, kept up to date. */
export interface Clusters {
  readonly informer: Informer
  get(cluster: string): LogicalCluster | undefined
  type(reference: TypeReference): WorkspaceType | undefined
  /** Where workspace types are stored: under the identity of root's tenancy export. Throws an `Error` before `synced`. */
  readonly types: ResourceRef
  readonly synced: Promise<unknown>
}

export function watchClusters({ informers }: Host): Clusters {
  const clusters = informers.for(logicalClusters)
  const exports = informers.for(apiExports)
  const types = (): ResourceRef => typesUnder(exports)
  const synced = async (): Promise<void> => {
    await Promise.all([clusters.synced, exports.synced])
    await informers.for(types()).synced
  }
  return {
    informer: clusters,
    get: cluster => clusters.get(cluster, '', 'cluster')?.object as LogicalCluster | undefined,
    type: ({ cluster, name }) =>
      informers.for(types()).get(cluster, '', name)?.object as WorkspaceType | undefined,
    get types() {
      return types()
    },
    synced: synced(),
  }
}

function typesUnder(exports: Informer): ResourceRef {
  const tenancy = exports.get('root', '', 'tenancy.kcp.io')?.object
  const identity = (tenancy?.status as { identityHash?: string } | undefined)?.identityHash
  if (!identity) throw new Error('root does not export tenancy.kcp.io')
  return { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes', identity }
}
