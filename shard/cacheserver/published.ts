import { type ApiResource, type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import type { ClusterName, ClusterScope } from '../../framework/meta/object.ts'
import { resourceKindAnnotation, resourceScopeAnnotation } from '../../kcp/annotations.ts'
import { cacheGroup } from '../../kcp/apigroups.ts'
import type { ClusterCachedResource } from '../../kcp/cache.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import type { CachedItem } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { copiedVersion } from './kinds.ts'
import { partsOf, type ShardParams } from './place.ts'
import { type CopyStore, metadataStorage } from './storage.ts'

/** The objects that a ClusterCachedResource publishes: their kind, and the identity that separates them from others of this name. */
interface Published {
  readonly cluster: ClusterName
  readonly definition: KindDefinition
  readonly identity: string
}

type Resource = ApiResource<ShardParams>
type ResourcesOf = (kind: KindDefinition, segment: string) => readonly Resource[]

/**
 * Serves the published resources besides some others, as long as there is the copy of a ClusterCachedResource: as
 * `<resource>:<identity>`, by their name alone in its logical cluster, and their metadata by their name over all logical clusters
 * (kcp `pkg/cache/server/crd_lister.go`).
 */
export function withPublished(
  store: CopyStore,
  apis: ApiSet<ShardParams>,
  resourcesOf: ResourcesOf,
): (cluster: ClusterScope) => ApiSet<ShardParams> {
  const published = new PublishedResources(store, resourcesOf)
  return cluster => ({
    ...apis,
    get resources() {
      return apiSetOf([...apis.resources, ...published.in(cluster)]).resources
    },
    find(group, version, plural) {
      const name = `${group}/${version}/${plural}`
      if (plural.includes(':')) return published.identified(name)
      return apis.find(group, version, plural) ?? published.named(name, cluster)
    },
    ...(cluster === '*' && { findMetadata: published.metadata }),
  })
}

class PublishedResources {
  readonly #store: CopyStore
  readonly #publishing: ResourceCache
  readonly #resourcesOf: ResourcesOf
  /** By their name with identity. */
  readonly #made = new Map<string, Resource | undefined>()

  constructor(store: CopyStore, resourcesOf: ResourcesOf) {
    this.#store = store
    this.#resourcesOf = resourcesOf
    this.#publishing = store.cache.resource(cacheGroup, 'clustercachedresources', '-')
    this.#publishing.subscribe(() => this.#made.clear(), { replay: false })
  }

  in(cluster: ClusterScope): readonly Resource[] {
    const own = this.#all().filter(each => each.cluster === cluster)
    return own.flatMap(each => this.#served(each) ?? [])
  }

  identified(name: string): Resource | undefined {
    return this.#made.get(name) ?? this.#first(each => identified(each) === name)
  }

  named(name: string, cluster: ClusterScope): Resource | undefined {
    return this.#first(each => each.cluster === cluster && nameOf(each) === name)
  }

  readonly metadata = (group: string, version: string, plural: string): Resource | undefined => {
    const isOf = ({ definition: { names, group: its } }: Published) =>
      names.plural === plural && its === group
    const resource = this.#first(isOf)
    if (resource === undefined) return undefined
    const { kind } = resource.names
    const storage = metadataStorage(this.#store, { group, version, resource: plural, kind })
    return { ...resource, version, verbs: ['list', 'watch'], storage, subresources: [], selectableFields: {} }
  }

  #all(): readonly Published[] {
    return [...this.#publishing.items()].flatMap(item => publishedBy(item) ?? [])
  }

  #first(isWanted: (published: Published) => boolean): Resource | undefined {
    const found = this.#all().find(isWanted)
    return found && this.#served(found)
  }

  #served(published: Published): Resource | undefined {
    const name = identified(published)
    const { definition, identity } = published
    if (!this.#made.has(name)) this.#made.set(name, this.#resourcesOf(definition, identity)[0])
    return this.#made.get(name)
  }
}

const nameOf = ({ definition: { group, names, versions } }: Published): string =>
  `${group}/${versions[0]?.name}/${names.plural}`

const identified = (published: Published): string => `${nameOf(published)}:${published.identity}`

/** undefined for one that publishes nothing: contents are not validated, and one of a shard must not hide those of others. */
function publishedBy({ key, object }: CachedItem): Published | undefined {
  const { metadata, spec, status } = object as Partial<ClusterCachedResource>
  const kind = metadata?.annotations?.[resourceKindAnnotation]
  const scope = metadata?.annotations?.[resourceScopeAnnotation]
  const { identityHash: identity } = status ?? {}
  const { group = '', version, resource: plural } = spec ?? {}
  if (![kind, scope, identity, group, version, plural].every(each => typeof each === 'string'))
    return undefined
  if (!kind || !scope || !identity || !version || !plural) return undefined
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` }
  const versions = [copiedVersion({ name: version, served: true, storage: true })]
  const definition = { group, names, namespaced: scope === 'Namespaced', versions }
  return { cluster: partsOf(key.cluster).cluster, identity, definition }
}
