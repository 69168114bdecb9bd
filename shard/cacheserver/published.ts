import { type ApiResource, type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { ClusterName, ClusterScope } from '../../framework/meta/object.ts'
import { resourceKindAnnotation, resourceScopeAnnotation } from '../../kcp/annotations.ts'
import { cacheGroup } from '../../kcp/apigroups.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import type { CachedItem } from '../cache/item.ts'
import { copiedVersion } from './kinds.ts'
import { partsOf, type ShardParams } from './place.ts'
import type { CopyStore } from './storage.ts'

/** The objects that a ClusterCachedResource publishes: their kind, and the identity that separates them from others of this name. */
interface Published {
  readonly cluster: ClusterName
  readonly definition: KindDefinition
  readonly identity: string
}

type Resource = ApiResource<ShardParams>
type Wanted = (published: Published) => boolean

/**
 * Serves the published resources besides some others, as long as there is the copy of a ClusterCachedResource: as
 * `<resource>:<identity>`, and by their name alone in its logical cluster (kcp `pkg/cache/server/crd_lister.go`).
 */
export function withPublished(
  { cache }: CopyStore,
  apis: ApiSet<ShardParams>,
  resourcesOf: (kind: KindDefinition, segment: string) => readonly Resource[],
): (cluster: ClusterScope) => ApiSet<ShardParams> {
  const publishing = cache.resource(cacheGroup, 'clustercachedresources', '-')
  const made = new Map<string, Resource | undefined>()
  publishing.subscribe(() => made.clear(), { replay: false })
  const served = (published: Published): Resource | undefined => {
    const name = identified(published)
    if (!made.has(name)) made.set(name, resourcesOf(published.definition, published.identity)[0])
    return made.get(name)
  }
  const all = (): readonly Published[] => [...publishing.items()].flatMap(item => publishedBy(item) ?? [])
  const first = (isWanted: Wanted): Resource | undefined => {
    const found = all().find(isWanted)
    return found && served(found)
  }
  return cluster => {
    const inCluster: Wanted = published => published.cluster === cluster
    return {
      ...apis,
      get resources() {
        const own = all().filter(inCluster)
        return apiSetOf([...apis.resources, ...own.flatMap(each => served(each) ?? [])]).resources
      },
      find(group, version, plural) {
        const name = `${group}/${version}/${plural}`
        if (plural.includes(':')) return made.get(name) ?? first(each => identified(each) === name)
        return apis.find(group, version, plural) ?? first(each => inCluster(each) && nameOf(each) === name)
      },
    }
  }
}

const nameOf = ({ definition: { group, names, versions } }: Published): string =>
  `${group}/${versions[0]?.name}/${names.plural}`

const identified = (published: Published): string => `${nameOf(published)}:${published.identity}`

function publishedBy({ key, object }: CachedItem): Published | undefined {
  const { metadata, spec, status } = object as ClusterCachedResource
  const kind = metadata.annotations?.[resourceKindAnnotation]
  const scope = metadata.annotations?.[resourceScopeAnnotation]
  const identity = status?.identityHash
  if (!kind || !scope || !identity || !spec.version) return undefined
  const { group = '', version, resource: plural } = spec
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const versions = [copiedVersion({ name: version, served: true, storage: true })]
  const definition = { group, names, namespaced: scope === 'Namespaced', versions }
  return { cluster: partsOf(key.cluster).cluster, identity, definition }
}
