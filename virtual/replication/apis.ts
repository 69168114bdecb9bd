import { type ApiResource, type ApiSet, apiSetOf, borrowed, type SharedCache } from '../../framework/index.ts'
import { apiResourcesOf, definitionOf } from '../../openapi/index.ts'
import type { Publication, Slices } from './slices.ts'
import type { ClusterCachedResource, SliceParams } from './types.ts'

interface Served {
  readonly version: string
  readonly set: ApiSet
  readonly replaced: AbortController
}

/** The ApiSets of all slices that somebody asked for: the same object until what it is made of changes. */
export class SliceApis {
  readonly #served = new Map<string, Served>()
  readonly #shared: SharedCache
  readonly #slices: Slices

  constructor(shared: SharedCache, slices: Slices) {
    this.#shared = shared
    this.#slices = slices
    slices.onChange(() => this.#refresh())
  }

  of(params: SliceParams): ApiSet | undefined {
    const key = keyOf(params)
    const known = this.#served.get(key)
    if (known !== undefined) return known.set
    const found = this.#slices.find(params)
    if (found === undefined) return undefined
    const replaced = new AbortController()
    const set = apiSetOf(resourcesOf(this.#shared, found), replaced.signal)
    this.#served.set(key, { version: versionOf(found), set, replaced })
    return set
  }

  /** Drops what changed and ends its watches; the next request builds it anew. */
  #refresh(): void {
    for (const [key, { version, replaced }] of this.#served) {
      const found = this.#slices.find(paramsOf(key))
      if (found !== undefined && versionOf(found) === version) continue
      this.#served.delete(key)
      replaced.abort()
    }
  }
}

const keyOf = ({ provider, slice }: SliceParams): string => `${provider}/${slice}`
function paramsOf(key: string): SliceParams {
  const [provider = '', slice = ''] = key.split('/')
  return { provider, slice }
}

const versionOf = ({ entry, schema, published }: Publication): string =>
  JSON.stringify([schema.meta.uid, published.meta.uid, entry.storage, specOf(published).version])

const specOf = (published: Publication['published']): ClusterCachedResource['spec'] =>
  (published.object as ClusterCachedResource).spec

/** The one resource, in the version in which it is published, to be read (chapter 10, section 6.2). */
function resourcesOf(shared: SharedCache, { entry, schema, published }: Publication): readonly ApiResource[] {
  const { group, name: resource, storage: where } = entry
  const { version = '' } = specOf(published)
  const identity = where?.virtual?.identityHash ?? ''
  const shard = published.meta.annotations['kcp.io/shard'] ?? ''
  const { cluster } = published.key
  const source = shared.storage({ group, version, resource, identity }, shard)
  const storage = borrowed({ group, resource }, () => ({ cluster, storage: source }))
  return apiResourcesOf(definitionOf(schema.object), {
    storage: () => storage,
    custom: true,
    verbs: ['get', 'list', 'watch'],
  })
    .filter(served => served.version === version)
    .map(served => ({
      ...served,
      subresources: served.subresources
        .filter(({ name }) => name === 'status')
        .map(status => ({ ...status, verbs: [] })),
    }))
}
