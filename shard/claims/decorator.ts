import { apisGroup } from '../../kcp/apigroups.ts'
import type { Decorator } from '../cache/builder.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import { createClaimsIndex } from './index.ts'

/**
 * Shows claim labels on everything in the cache. A change of a binding shows at once, at the binding's own revision:
 * watches that select by claim label see objects come and go with it, and can resume there.
 */
export function claimsDecorator(cache: WatchCache): Decorator {
  const index = createClaimsIndex()
  cache.resource(apisGroup, 'apibindings', 'customresources').subscribe(
    event => {
      for (const { group, resource, segment } of index.apply(event))
        cache.resource(group, resource, segment).redecorate(event.item.cluster, event.revision)
    },
    { replay: true },
  )
  return index
}
