import type { ApiResource, ApiSet, ClusterScope, Host, Item } from '../../framework/index.ts'
import { type ClusterCachedResource, resources } from '../../kcp/index.ts'
import { readable } from './definitions.ts'

interface Published {
  readonly cluster: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly identity: string
}

type Find = ApiSet['find']

/**
 * The resources that ClusterCachedResources publish: `regions:<identity>`, also over all logical clusters; `regions` in the
 * logical cluster of the ClusterCachedResource (kcp `pkg/cache/server/crd_lister.go`).
 */
export function publishedIn({ backend, shared }: Host): (cluster: ClusterScope) => Find {
  if (shared === undefined) return () => () => undefined
  const informer = shared.informers.for(resources.clusterCachedResources)
  const serve = ({ cluster, ...ref }: Published): ApiResource | undefined => {
    const served = backend.apis(cluster)?.find(ref.group, ref.version, ref.resource)
    return served && { ...readable(served), storage: shared.storage(ref, '') }
  }
  return cluster => (group, version, plural) => {
    const [resource = '', identity] = plural.split(':')
    if (cluster === '*' && identity === undefined) return undefined
    const isWanted = (found: Published): boolean =>
      found.group === group &&
      found.version === version &&
      found.resource === resource &&
      (identity === undefined || found.identity === identity)
    const published = informer.list(cluster === '*' ? undefined : cluster).flatMap(publishedBy)
    const found = published.find(isWanted)
    return found && serve(found)
  }
}

function publishedBy({ key: { cluster }, object }: Item): readonly Published[] {
  const { spec, status } = object as ClusterCachedResource
  const { group = '', version, resource } = spec
  const identity = status?.identityHash
  return identity && version ? [{ cluster, group, version, resource, identity }] : []
}
