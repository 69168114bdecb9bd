import type { ApiResource, ApiSet } from '../../framework/contract/apis.ts'
import { resourceKindAnnotation, resourceScopeAnnotation } from '../../kcp/annotations.ts'
import { cacheGroup } from '../../kcp/apigroups.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import type { CachedItem } from '../cache/item.ts'
import { copiedVersion } from './kinds.ts'
import type { ShardParams } from './place.ts'
import type { CopyStore } from './storage.ts'

/** The kind of the objects that ClusterCachedResources publish, and the identity that separates them from others of this name. */
interface Published {
  readonly definition: KindDefinition
  readonly identity: string
}

type Resource = ApiResource<ShardParams>

/**
 * Serves `<resource>:<identity>` besides some resources, as long as the copy of a ClusterCachedResource has this identity (kcp
 * `pkg/cache/server/crd_lister.go`).
 */
export function withPublished(
  { cache }: CopyStore,
  apis: ApiSet<ShardParams>,
  resourcesOf: (kind: KindDefinition, segment: string) => readonly Resource[],
): ApiSet<ShardParams> {
  const publishing = cache.resource(cacheGroup, 'clustercachedresources', '-')
  const made = new Map<string, Resource>()
  const make = (group: string, version: string, plural: string): Resource | undefined => {
    for (const item of publishing.items()) {
      const published = publishedBy(item)
      if (published === undefined || nameOf(published) !== `${group}/${version}/${plural}`) continue
      return resourcesOf(published.definition, published.identity)[0]
    }
    return undefined
  }
  publishing.subscribe(() => made.clear(), { replay: false })
  return {
    ...apis,
    find(group, version, plural) {
      if (!plural.includes(':')) return apis.find(group, version, plural)
      const name = `${group}/${version}/${plural}`
      const resource = made.get(name) ?? make(group, version, plural)
      if (resource !== undefined) made.set(name, resource)
      return resource
    },
  }
}

const nameOf = ({ definition: { group, names, versions }, identity }: Published): string =>
  `${group}/${versions[0]?.name}/${names.plural}:${identity}`

function publishedBy({ object }: CachedItem): Published | undefined {
  const { metadata, spec, status } = object as ClusterCachedResource
  const kind = metadata.annotations?.[resourceKindAnnotation]
  const scope = metadata.annotations?.[resourceScopeAnnotation]
  const identity = status?.identityHash
  if (!kind || !scope || !identity || !spec.version) return undefined
  const { group = '', version, resource: plural } = spec
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const versions = [copiedVersion({ name: version, served: true, storage: true })]
  return { identity, definition: { group, names, namespaced: scope === 'Namespaced', versions } }
}
