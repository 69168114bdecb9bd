import {
  type ApiSet,
  type ClusterScope,
  defineVirtualWorkspace,
  deny,
  type Host,
} from '../../framework/index.ts'
import { definitionsOf, readable } from './definitions.ts'

/**
 * The resources that servers in front of this shard read from kcp's cache server. See README.md beside this file.
 */
export const cache = defineVirtualWorkspace('cache', '/services/cache/shards/:shard', host => {
  const definitions = definitionsOf(host)
  return {
    apis: (_, cluster) =>
      cluster === '*' ? definitions : { ...definitions, find: findIn(host, definitions, cluster) },
    // Privileged users are not asked.
    authorize: async () => deny('access denied', 'virtual.cache'),
  }
})

/** The resources that ClusterCachedResources of the logical cluster publish: `regions:<identity>`. */
const findIn =
  ({ backend, shared }: Host, definitions: ApiSet, cluster: ClusterScope): ApiSet['find'] =>
  (group, version, plural) => {
    const [resource = '', identity] = plural.split(':')
    if (identity === undefined) return definitions.find(group, version, plural)
    const served = backend.apis(cluster)?.find(group, version, resource)
    const storage = shared?.storage({ group, version, resource, identity }, '')
    return served && storage && { ...readable(served), storage }
  }
