import { type Item, relabeledItem } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { notFound } from '../../framework/meta/errors.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { customSegment } from '../cache/segments.ts'
import { presented, refuseWrites } from '../registry/storage.ts'
import { unionList } from './unionlist.ts'
import { unionWatch } from './unionwatch.ts'

/** The stored version of an object, for readers of its metadata only. */
const originalApiVersion = 'kcp.io/original-api-version'

const show = presented({
  isPlain: () => false,
  item: (item: Item): Item => {
    const { apiVersion } = item.object
    return relabeledItem(item, {
      annotations: { ...item.meta.annotations, [originalApiVersion]: apiVersion },
    })
  },
})

/** Which resource, whatever its definitions and identities. */
export interface UnionOf {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
}

/** The objects of a resource of all identities: lists and watches of their metadata. */
export function unionStorage(
  cache: WatchCache,
  { group, version, resource, kind }: UnionOf,
): ResourceStorage {
  const served = { apiVersion: apiVersionOf(group, version), kind }
  const isOf = (each: ResourceCache): boolean =>
    each.resource.group === group && each.resource.resource === resource
  const caches = (): readonly ResourceCache[] => {
    const found = [...cache.resources()].filter(isOf)
    if (found.length === 0) return [cache.resource(group, resource, customSegment)]
    return found.sort((a, b) => (a.resource.segment < b.resource.segment ? -1 : 1))
  }
  return {
    ...refuseWrites({ group, resource }),
    get: async (_ctx, { name }) => {
      throw notFound({ group, resource, name })
    },
    list: ({ signal }, query) => show.list(unionList(caches(), served, signal, query)),
    async *watch({ signal }, query) {
      const watched = caches()
      const grown = new AbortController()
      const unsubscribe = cache.subscribe(each => {
        if (isOf(each) && !watched.includes(each)) grown.abort()
      })
      try {
        yield* show.watch(unionWatch(watched, served, AbortSignal.any([signal, grown.signal]), query))
      } finally {
        unsubscribe()
      }
    },
  }
}
