import { rbacGroup } from '../authz/objects.ts'
import type { RbacSource } from '../authz/rbacsource.ts'
import { builtinSegment } from './apis/served.ts'
import type { WatchCache } from './cache/watchcache.ts'
import { createRbacIndex, rbacResources } from './rbacindex.ts'

/** RBAC of all clusters, kept up to date by the cache: before a write is acknowledged, it counts. */
export function rbacSourceOf(cache: WatchCache): RbacSource {
  const index = createRbacIndex()
  for (const resource of rbacResources) {
    const objects = cache.resource(rbacGroup, resource, builtinSegment)
    objects.subscribe(event => index.apply(resource, event), { replay: true })
  }
  return index
}
