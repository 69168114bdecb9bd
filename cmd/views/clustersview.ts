import { type ApiResource, type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import { pathPattern } from '../../framework/request/path.ts'
import type { Verb } from '../../framework/request/requestinfo.ts'

/**
 * The view `/clusters/…`: everything that a logical cluster serves, unfiltered. In an unknown logical cluster,
 * privileged users may read built-in kinds, of which there are no objects, and create the LogicalCluster, as shards do for
 * each other.
 */
export const clustersView: WorkspaceFactory = ({ backend }): VirtualWorkspace => {
  const unknown = ofUnknownClusters(backend.apis('*'))
  return {
    name: '',
    path: pathPattern(''),
    apis: (_params, cluster) => backend.apis(cluster) ?? unknown,
  }
}

const ofUnknownClusters = (all: ApiSet | undefined): ApiSet =>
  apiSetOf((all?.resources ?? []).filter(({ verbs }) => verbs.includes('list')).map(ofUnknownCluster))

const ofUnknownCluster = (resource: ApiResource): ApiResource => ({
  ...resource,
  verbs: resource.names.plural === 'logicalclusters' ? founding : reading,
  subresources: [],
})

const founding: readonly Verb[] = ['create', 'get']
const reading: readonly Verb[] = ['get', 'list', 'watch']
