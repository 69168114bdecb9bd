import { type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import { pathPattern } from '../../framework/request/path.ts'

/**
 * The view `/clusters/…` without a filter: everything that a logical cluster serves. In an unknown logical cluster,
 * privileged users may create the LogicalCluster, as shards do for each other.
 */
export const plain: WorkspaceFactory = ({ backend }): VirtualWorkspace => {
  const founding = onlyFounding(backend.apis('*'))
  return {
    name: '',
    path: pathPattern(''),
    apis: (_params, cluster) => backend.apis(cluster) ?? founding,
  }
}

function onlyFounding(all: ApiSet | undefined): ApiSet {
  const found = all?.find('core.kcp.io', 'v1alpha1', 'logicalclusters')
  return apiSetOf(found === undefined ? [] : [{ ...found, verbs: ['create', 'get'], subresources: [] }])
}
