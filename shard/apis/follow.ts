import { isCopied } from '../../framework/contract/item.ts'
import type { WorkspaceTree } from '../../framework/contract/workspacetree.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { apisGroup, coreGroup, tenancyGroup } from '../../kcp/apigroups.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { boundCRDsCluster, logicalClusterName } from '../../kcp/logicalclusters.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { WatchCacheEvent } from '../cache/item.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import type { ClusterApis } from './clusters.ts'

const replay = { replay: true } as const

/** The object of an event; undefined when it was deleted. */
const present = ({ type, item }: WatchCacheEvent): WatchCacheEvent['item'] | undefined =>
  type === 'DELETED' ? undefined : item

/**
 * Updates the resources of clusters from the cache, synchronously: a change and its consequence are visible together.
 */
export function followDefinitions(cache: WatchCache, apis: ClusterApis): void {
  const system = (group: string, resource: string, handler: (event: WatchCacheEvent) => void): void =>
    void cache.resource(group, resource, customSegment).subscribe(handler, replay)
  system(coreGroup, 'logicalclusters', event => {
    const { cluster, name, meta } = event.item
    const isHere = event.type !== 'DELETED' && !isCopied(meta)
    if (name === logicalClusterName) apis.setCluster(cluster, isHere)
  })
  system(apisGroup, 'apiresourceschemas', event =>
    apis.setSchema(event.item.meta.uid, 'schema', present(event)),
  )
  system(apisGroup, 'apibindings', event =>
    apis.setBinding(event.item.cluster, event.item.name, present(event)?.object),
  )
  cache.resource('apiextensions.k8s.io', 'customresourcedefinitions', builtinSegment).subscribe(event => {
    const { cluster, name } = event.item
    if (cluster === boundCRDsCluster) apis.setSchema(name, 'copy', present(event))
    else apis.setDefinition(cluster, name, present(event)?.object)
  }, replay)
}

const rootCluster: ClusterName = 'root'

/** Updates the workspace tree from the Workspaces of the identity of root's tenancy export. */
export function followWorkspaces(cache: WatchCache, tree: WorkspaceTree): void {
  const followed = new Set<string>()
  const followIdentity = (identity: string): void => {
    if (followed.has(identity)) return
    followed.add(identity)
    cache
      .resource(tenancyGroup, 'workspaces', identity)
      .subscribe(
        event => tree.setWorkspace(event.item.cluster, event.item.name, present(event)?.object),
        replay,
      )
  }
  cache.resource(apisGroup, 'apiexports', customSegment).subscribe(event => {
    const { cluster, name } = event.item
    if (cluster !== rootCluster || name !== tenancyGroup) return
    const identity = (present(event)?.object as APIExport | undefined)?.status?.identityHash
    if (identity) followIdentity(identity)
  }, replay)
}
