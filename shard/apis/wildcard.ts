import { type ApiResource, type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { isCopied } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { viewOf } from '../../framework/lens/view.ts'
import { groupResource } from '../../framework/meta/object.ts'
import { coreGroup } from '../../kcp/apigroups.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { ClusterApis } from './clusters.ts'
import { partialStateOf } from './moved.ts'
import type { ResourcesOf, ServedDefinition } from './served.ts'
import { unionStorage } from './union.ts'

export interface WildcardOptions {
  readonly cache: WatchCache
  readonly common: ApiSet
  readonly clusters: ClusterApis
  readonly resourcesOf: ResourcesOf
  storage(ref: ResourceRef): ResourceStorage
  /** Whether there are copies of objects of other shards. */
  readonly hasCopies: boolean
}

/**
 * Without the copies of other shards, and without logical clusters that leave: a front proxy of kcp takes every logical cluster in this
 * list for one of the shard, also for each change, and forgets its path when the shard that changed it last removes it. Controllers and
 * views read informers, which have the copies.
 */
const ownClusters = (resource: ApiResource): ApiResource =>
  resource.group === coreGroup && resource.names.plural === 'logicalclusters'
    ? {
        ...resource,
        storage: viewOf(resource.storage, () => ({
          matches: ({ annotations }) =>
            !isCopied({ annotations }) && partialStateOf(annotations) !== 'leaving',
        })),
      }
    : resource

/** The resources of `*`: those of every cluster, and `widgets:<identity>` by any binding of that identity. */
export function wildcardApis(options: WildcardOptions): ApiSet {
  const { clusters, resourcesOf, storage, hasCopies } = options
  const common = hasCopies ? apiSetOf(options.common.resources.map(ownClusters)) : options.common
  const made = new WeakMap<ApiResource, ApiResource>()
  const overAll = (resource: ApiResource, identity: string): ApiResource => {
    const { group, version, names } = resource
    const ref = { group, version, resource: names.plural, identity }
    const known = made.get(resource) ?? { ...resource, storage: storage(ref), subresources: [] }
    made.set(resource, known)
    return known
  }
  return {
    resources: common.resources,
    find(group, version, plural) {
      const colon = plural.indexOf(':')
      if (colon === -1) return common.find(group, version, plural)
      const [resource, identity] = [plural.slice(0, colon), plural.slice(colon + 1)]
      const [served] = clusters.identified(groupResource(group, resource), identity)
      const found = served && resourcesOf(served).find(each => each.version === version)
      return found && overAll(found, identity)
    },
    findMetadata(group, version, plural) {
      const served = clusters.anyOf(groupResource(group, plural))
      return served && metadataOf(options, served, version)
    },
  }
}

/** A resource independent of its definitions: its objects have metadata. */
function metadataOf(
  { cache, resourcesOf }: WildcardOptions,
  served: ServedDefinition,
  version: string,
): ApiResource | undefined {
  const [resource] = resourcesOf(served)
  if (resource === undefined) return undefined
  const { group, names } = resource
  const { plural, kind } = names
  return {
    ...resource,
    version,
    verbs: ['list', 'watch'],
    storage: unionStorage(cache, { group, version, resource: plural, kind }),
    subresources: [],
    selectableFields: {},
  }
}
