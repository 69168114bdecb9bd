import {
  type ApiSet,
  type ClusterScope,
  defineVirtualWorkspace,
  deny,
  type Host,
} from '../../framework/index.ts'
import { definitionsOf, readable } from './definitions.ts'

/** What servers in front of this shard read of it, where they would ask kcp's cache server. See README.md beside this file. */
export const cache = defineVirtualWorkspace('cache', '/services/cache/shards/:shard', host => {
  const definitions = definitionsOf(host)
  return {
    apis: (_, cluster) =>
      cluster === '*' ? definitions : { ...definitions, find: findIn(host, definitions, cluster) },
    // Whoever may is privileged, and is not asked.
    authorize: async () => deny('access denied', 'virtual.cache'),
  }
})

/** Also what a ClusterCachedResource of the logical cluster publishes: `regions:<identity>`. */
const findIn =
  ({ backend, shared }: Host, definitions: ApiSet, cluster: ClusterScope): ApiSet['find'] =>
  (group, version, plural) => {
    const [resource = '', identity] = plural.split(':')
    if (identity === undefined) return definitions.find(group, version, plural)
    const served = backend.apis(cluster)?.find(group, version, resource)
    const storage = shared?.storage({ group, version, resource, identity }, '')
    return served && storage && { ...readable(served), storage }
  }
