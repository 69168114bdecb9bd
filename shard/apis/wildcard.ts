import type { ApiResource, ApiSet } from '../../framework/contract/apis.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { groupResource } from '../../framework/meta/object.ts'
import type { WatchCache } from '../cache/watchcache.ts'
import type { ClusterApis } from './clusters.ts'
import type { ResourcesOf, ServedDefinition } from './served.ts'
import { unionStorage } from './union.ts'

export interface WildcardOptions {
  readonly cache: WatchCache
  readonly common: ApiSet
  readonly clusters: ClusterApis
  readonly resourcesOf: ResourcesOf
  storage(ref: ResourceRef): ResourceStorage
}

/** The resources of `*`: those of every cluster, and `widgets:<identity>` by any binding of that identity. */
export function wildcardApis(options: WildcardOptions): ApiSet {
  const { common, clusters, resourcesOf, storage } = options
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
