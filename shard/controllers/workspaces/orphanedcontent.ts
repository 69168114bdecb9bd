import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import { isCopied } from '../../../framework/contract/item.ts'
import type { Steps } from '../../../framework/json/json.ts'
import { isSystemCluster } from '../../../framework/meta/object.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import { removeAll } from '../../bindings/content.ts'
import type { WatchCache } from '../../cache/contract.ts'
import type { Controller } from '../controller.ts'
import type { ShardHost } from '../host.ts'
import { createQueue } from '../queue.ts'

/**
 * Removes objects that outlive their logical cluster: a write may be admitted before and stored after the deletion, or stored by
 * another server when the content of the logical cluster had been listed. Those of an earlier process that ended meanwhile are
 * found at the start.
 */
export function orphanedContentController({ cache, content, informers, log }: ShardHost): Controller {
  const clusters = informers.for(resources.logicalClusters)
  const isGone = (cluster: string): boolean =>
    !isSystemCluster(cluster) && clusters.get(cluster, '', logicalClusterName) === undefined
  const queue = createQueue({
    name: 'orphaned-content',
    log,
    reconcile: async cluster => {
      if (!isGone(cluster)) return
      await removeAll(
        content,
        [...content.of(cluster)].filter(({ item }) => !isCopied(item)),
      )
    },
  })
  return {
    name: 'orphaned-content',
    idle: () => queue.idle(),
    async run(signal) {
      const remove = cache.subscribe(({ resource: { resource } }, { type, item }) => {
        const isEnd = type === 'DELETED' && resource === resources.logicalClusters.resource
        if ((type === 'ADDED' || isEnd) && isGone(item.cluster)) queue.add(item.cluster)
      })
      const running = queue.run(signal)
      for (const cluster of await inTurns(clustersOf(cache), new Pace()))
        if (isGone(cluster)) queue.add(cluster)
      await running
      remove()
    },
  }
}

/** The logical clusters with objects that are not copies of those of another shard. */
function* clustersOf(cache: WatchCache): Steps<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const resource of cache.resources())
    for (const item of resource.items()) {
      if (!found.has(item.cluster) && !isCopied(item)) found.add(item.cluster)
      yield
    }
  return found
}
