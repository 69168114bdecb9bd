import type { ResourceRef } from '../framework/contract/backend.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import type { ItemList, ListQuery, ResourceStorage } from '../framework/contract/storage.ts'
import type { ShardConnection } from './connection/connection.ts'
import type { Copies } from './copy/copies.ts'
import { list as listCopy, oldestFor } from './copy/reading.ts'
import { Races } from './races.ts'
import type { ListCoalescer } from './reading/listcoalescer.ts'
import { batches, list } from './reading/listing.ts'
import { type Source, sourceOf } from './reading/source.ts'
import { watch } from './watching.ts'
import { create, get, remove, update } from './writing.ts'

/** What clients of a shard have in common; nothing where it is absent. */
export interface Shared {
  readonly copies?: Copies
  readonly coalescer?: ListCoalescer
}

/**
 * Objects of one resource as they lie on a shard. What they are is decided there; bytes pass, or come from `copies` where
 * they may.
 */
export function remoteStorage(
  connection: ShardConnection,
  ref: ResourceRef,
  { copies, coalescer }: Shared = {},
): ResourceStorage {
  const source = sourceOf(connection, ref, coalescer)
  const races = new Races()
  return {
    get: get(source),
    list: (ctx, query) =>
      copies === undefined ? list(batches(source, ctx, query)) : listFrom(copies, source, ctx, query),
    watch: (ctx, query) => watch(source, ctx, query, copies),
    create: create(source),
    update: update(source, races, key => copies?.find(source, key)),
    delete: remove(source, races),
  }
}

/** From a copy when it is as new as it has to be; else the shard answers. */
async function* listFrom(copies: Copies, source: Source, ctx: RequestContext, query: ListQuery): ItemList {
  const oldest = oldestFor(query)
  const shown = oldest === undefined ? undefined : copies.of(source, ctx, query)
  const copy = await shown?.kept.filled()
  const isUsable = copy !== undefined && copies.isGood() && copy.revision >= (oldest ?? 0)
  return yield* isUsable && shown ? listCopy(copy, shown.within(query)) : list(batches(source, ctx, query))
}
