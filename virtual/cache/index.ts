import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type ClusterScope,
  defineVirtualWorkspace,
  deny,
  type Host,
} from '../../framework/index.ts'

/** What servers in front of this shard read of it, where they would ask kcp's cache server. See README.md beside this file. */
export const cache = defineVirtualWorkspace('cache', '/services/cache/shards/:shard', host => {
  const all = host.backend.apis('*')?.resources ?? []
  const definitions = apiSetOf(all.filter(isDefinition).map(readable))
  return {
    apis: (_, cluster) =>
      cluster === '*' ? definitions : { ...definitions, find: findIn(host, definitions, cluster) },
    // Whoever may is privileged, and is not asked.
    authorize: async () => deny('access denied', 'virtual.cache'),
  }
})

/** Of exports, and of what is published. */
const isDefinition = ({ group, names }: ApiResource): boolean =>
  (group === 'apis.kcp.io' && names.plural !== 'apibindings') || group === 'cache.kcp.io'

const readable = (resource: ApiResource): ApiResource => ({
  ...resource,
  verbs: ['get', 'list', 'watch'],
  subresources: [],
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
