import { defineVirtualWorkspace, deny } from '../../framework/index.ts'
import { definitionsOf } from './definitions.ts'
import { publishedIn } from './published.ts'

/**
 * The resources that servers in front of this shard read from kcp's cache server. See README.md beside this file.
 */
export const cache = defineVirtualWorkspace('cache', '/services/cache/shards/:shard', host => {
  const definitions = definitionsOf(host)
  const published = publishedIn(host)
  return {
    apis: (_, cluster) => {
      const findPublished = published(cluster)
      return {
        ...definitions,
        find: (...resource) => definitions.find(...resource) ?? findPublished(...resource),
      }
    },
    // Privileged users are not asked.
    authorize: async () => deny('access denied', 'virtual.cache'),
  }
})
