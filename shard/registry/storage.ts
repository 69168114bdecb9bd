import type { ServedKind } from '../../framework/cache/selection.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { notFound } from '../../framework/meta/errors.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import type { Presented } from './presentation.ts'
import type { Registry } from './registry.ts'
import { update } from './update.ts'

/** What reads need: the cache of the resource, its name for messages, and the kind in the version of the reader. */
export interface Reads {
  readonly group: string
  readonly resource: string
  readonly cache: ResourceCache
  readonly kind: ServedKind
  readonly show: Presented
}

/** get, list and watch from the watch cache. */
export const readsOf = ({
  group,
  resource,
  cache,
  kind,
  show,
}: Reads): Pick<ResourceStorage, 'get' | 'list' | 'watch'> => ({
  get(_ctx, key) {
    const item = cache.get(key)
    if (item === undefined) throw notFound({ group, resource, name: key.name })
    return show.item(item)
  },
  list: (ctx, query) => show.list(cache.list(kind, ctx.signal, query)),
  watch: (ctx, query) => show.watch(cache.watch(kind, ctx.signal, query)),
})

/** The storage of one resource; objects are written in the version in which they are stored. */
export const registryStorage = (registry: Registry, reads: Reads): ResourceStorage => ({
  ...readsOf(reads),
  create: (ctx, key, object, options) => create(registry, ctx, { key, object }, options),
  update: (ctx, key, change, options) => update(registry, ctx, { key, change, options }),
  delete: (ctx, key, check, options) => remove(registry, ctx, { key, check, options }),
})

/** Writes to a resource that no cluster serves: 404. */
export const refuseWrites = (
  about: Pick<Registry, 'group' | 'resource'>,
): Pick<ResourceStorage, 'create' | 'update' | 'delete'> => {
  const refuse = async (_ctx: RequestContext, key: { readonly name: string }): Promise<never> => {
    throw notFound({ ...about, name: key.name })
  }
  return { create: refuse, update: refuse, delete: refuse }
}
