import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Controller } from '../controller.ts'
import type { ShardHost } from '../host.ts'
import { createQueue } from '../queue.ts'

/** Removes what was written into a logical cluster while it went away: a write that was admitted before may be stored
 * after. */
export function leftoversController({ cache, content, informers, log }: ShardHost): Controller {
  const clusters = informers.for(resources.logicalClusters)
  const isGone = (cluster: string): boolean =>
    !cluster.startsWith('system:') && clusters.get(cluster, '', logicalClusterName) === undefined
  const queue = createQueue({
    name: 'leftovers',
    log,
    reconcile: async cluster => {
      if (isGone(cluster)) await content.remove([...content.of(cluster)])
    },
  })
  return {
    name: 'leftovers',
    idle: () => queue.idle(),
    async run(signal) {
      const remove = cache.subscribe((_, { type, item }) => {
        if (type === 'ADDED' && isGone(item.cluster)) queue.add(item.cluster)
      })
      await queue.run(signal)
      remove()
    },
  }
}
