import type { ServedKind } from '../../framework/cache/selection.ts'
import type { ItemList, ListMeta, ListQuery } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { decodeContinuation, encodeContinuation } from '../cache/continuation.ts'
import type { ResourceCache } from '../cache/resource.ts'

/** One list of several caches, one after the other, all at the same revision. */
export async function* unionList(
  caches: readonly ResourceCache[],
  kind: ServedKind,
  signal: AbortSignal,
  query: ListQuery,
): ItemList {
  const begin = query.continue ? continuedIn(caches, query) : 0
  let left = query.limit && query.resourceVersion !== '0' ? query.limit : Number.POSITIVE_INFINITY
  let meta: ListMeta = { resourceVersion: '' }
  for (const [i, cache] of caches.entries()) {
    if (i < begin) continue
    if (left === 0 && cache.count() > 0) return continuedWith(cache, meta, query)
    if (left === 0) continue
    const own = i === begin ? query : later(query, meta, left)
    const list = cache.list(kind, signal, own)
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      left -= next.value.length
      yield next.value
    }
    meta = next.value
    // The number of remaining items in the other caches is not counted.
    if (meta.continue !== undefined) return { resourceVersion: meta.resourceVersion, continue: meta.continue }
  }
  return { resourceVersion: meta.resourceVersion }
}

/** The rest of a list, in another cache, at the revision at which it was begun. */
function later(
  { cluster, labels, fields }: ListQuery,
  { resourceVersion }: ListMeta,
  limit: number,
): ListQuery {
  return {
    cluster,
    resourceVersion,
    match: 'Exact',
    ...(labels && { labels }),
    ...(fields && { fields }),
    ...(Number.isFinite(limit) && { limit }),
  }
}

const continuedWith = (cache: ResourceCache, { resourceVersion }: ListMeta, query: ListQuery): ListMeta => ({
  resourceVersion,
  continue: encodeContinuation({ revision: Number(resourceVersion), after: '' }, cache.resource, query),
})

/** Each token names its cache; an unknown token is refused by the first cache. */
function continuedIn(caches: readonly ResourceCache[], query: ListQuery): number {
  const isOf = ({ resource }: ResourceCache): boolean => {
    try {
      decodeContinuation(query.continue ?? '', resource, query)
      return true
    } catch (error) {
      if (error instanceof StatusError) return false
      throw error
    }
  }
  return Math.max(0, caches.findIndex(isOf))
}
