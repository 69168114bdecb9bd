import { type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import { pathPattern } from '../../framework/request/path.ts'

/**
 * The view with no filter: `/clusters/…`, everything that a logical cluster serves. Where there is none the privileged
 * may make one, as shards do for each other.
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
