import type { ServedKind } from '../../framework/cache/selection.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { Lens } from '../../framework/lens/lens.ts'
import { viewOf } from '../../framework/lens/view.ts'
import { type About, notFound } from '../../framework/meta/errors.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { type UnionOf, unionStorage } from '../apis/union.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { openObjectStore } from '../registry/registry.ts'
import { shapeOf } from '../registry/storage.ts'
import type { Store } from '../store/store.ts'
import { type PlacedContext, placed, placedForWrite, type ShardParams, scopeOf, selects } from './place.ts'
import { type CopyWrites, createCopy, deleteCopy, updateCopy } from './writes.ts'

/** Where the objects of a cache server are. */
export interface CopyStore {
  readonly store: Store
  readonly cache: WatchCache
}

/** A storage of the copies of all shards. */
export type CopyStorage = ResourceStorage<ShardParams>

/**
 * Reads and writes the copies of one kind. `segment` separates kinds of the same name with different identities. Versions differ in
 * `apiVersion` only.
 */
export function copyStorage(
  { store, cache: watchCache }: CopyStore,
  definition: KindDefinition,
  segment: string,
): (version: string) => CopyStorage {
  const { group, names, versions } = definition
  const resource = { group, resource: names.plural, segment }
  const objects = openObjectStore(store, watchCache, { resource, shape: shapeOf(definition) })
  const writes: CopyWrites = { store: objects, group, resource: names.plural, kind: names.kind }
  const cache = watchCache.resource(group, names.plural, segment)
  const stored = versions.find(({ storage }) => storage)?.name ?? ''
  return version => {
    const kind = { apiVersion: apiVersionOf(group, version), kind: names.kind }
    const all = { ...readsOf(cache, kind, { group, resource: names.plural }), ...writesOf(writes) }
    const other = version === stored ? undefined : inVersion(group, version, stored)
    return inPlaces(viewOf(all, ctx => lensOf(ctx, other)))
  }
}

/** The metadata of the copies of a kind, whatever their identities: lists and watches. */
export const metadataStorage = ({ cache }: CopyStore, of: UnionOf): CopyStorage =>
  inPlaces(viewOf<PlacedContext['params']>(unionStorage(cache, of), ctx => lensOf(ctx, undefined)))

/** A storage whose logical clusters are places. */
type PlacedStorage = ResourceStorage<PlacedContext['params']>

/** Brings requests into the places of the store. */
const inPlaces = (inner: PlacedStorage): CopyStorage => ({
  get: (ctx, key) => inner.get(placed(ctx), { ...key, cluster: scopeOf(ctx) }),
  list: (ctx, query) => inner.list(placed(ctx), { ...query, cluster: scopeOf(ctx) }),
  watch: (ctx, query) => inner.watch(placed(ctx), { ...query, cluster: scopeOf(ctx) }),
  create: async (ctx, key, object, options) =>
    inner.create(placed(ctx), placedForWrite(ctx, key), object, options),
  update: async (ctx, key, change, options) =>
    inner.update(placed(ctx), placedForWrite(ctx, key), change, options),
  delete: async (ctx, key, check, options) =>
    inner.delete(placed(ctx), placedForWrite(ctx, key), check, options),
})

const readsOf = (
  cache: ResourceCache,
  kind: ServedKind,
  about: About,
): Pick<PlacedStorage, 'get' | 'list' | 'watch'> => ({
  get(_ctx, key): Item {
    const item = cache.get(key)
    if (item === undefined) throw notFound({ ...about, name: key.name })
    return item
  },
  list: (ctx, query) => cache.list(kind, ctx.signal, query),
  watch: (ctx, query) => cache.watch(kind, ctx.signal, query),
})

const writesOf = (writes: CopyWrites): Pick<PlacedStorage, 'create' | 'update' | 'delete'> => ({
  create: (_ctx, key, object, options) => createCopy(writes, key, object, options),
  update: (_ctx, key, change, options) => updateCopy(writes, key, change, options),
  delete: (_ctx, key, check, options) => deleteCopy(writes, key, check, options),
})

/** Shows the selected places of wildcards, and the version of the client. */
function lensOf(ctx: PlacedContext, version: Lens | undefined): Lens {
  const isPartial = (ctx.params.shard === '*') !== (ctx.params.cluster === '*')
  return { ...version, ...(isPartial && { matches: ({ cluster }) => selects(ctx, cluster) }) }
}

const inVersion = (group: string, shown: string, stored: string): Lens => ({
  present: object => ({ ...object, apiVersion: apiVersionOf(group, shown) }),
  accept: object => ({ ...object, apiVersion: apiVersionOf(group, stored) }),
})
