import type { ResourceRef } from '../framework/contract/backend.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import type { ItemList, ListQuery, ResourceStorage } from '../framework/contract/storage.ts'
import type { ShardConnection } from './connection/connection.ts'
import type { Copies } from './copy/copies.ts'
import { list as listCopy, oldestFor } from './copy/reading.ts'
import type { ListCoalescer } from './reading/listcoalescer.ts'
import { batches, list } from './reading/listing.ts'
import { type Source, sourceOf } from './reading/source.ts'
import { watch } from './watching.ts'
import { WriteRetries } from './writeretries.ts'
import { create, get, remove, update } from './writing.ts'

/** Shared by the storages of a shard. */
export interface Shared {
  readonly copies?: Copies
  readonly coalescer?: ListCoalescer
}

/**
 * A storage of one resource that lives on a shard. The shard validates, authorizes and stores; responses are
 * forwarded as bytes, or served from `copies` where their resourceVersion allows.
 */
export function remoteStorage(
  connection: ShardConnection,
  ref: ResourceRef,
  { copies, coalescer }: Shared = {},
): ResourceStorage {
  const source = sourceOf(connection, ref, coalescer)
  const retries = new WriteRetries()
  return {
    get: get(source),
    list: (ctx, query) =>
      copies === undefined ? list(batches(source, ctx, query)) : listFrom(copies, source, ctx, query),
    watch: (ctx, query) => watch(source, ctx, query, copies),
    create: create(source),
    update: update(source, retries, key => copies?.find(source, key)),
    delete: remove(source, retries),
  }
}

/** Lists from a copy that is new enough, and otherwise from the shard. */
async function* listFrom(copies: Copies, source: Source, ctx: RequestContext, query: ListQuery): ItemList {
  const oldest = oldestFor(query)
  const selected = oldest === undefined ? undefined : copies.of(source, ctx, query)
  const copy = await selected?.managed.filled()
  const isUsable = copy !== undefined && copies.isGood() && copy.revision >= (oldest ?? 0)
  return yield* isUsable && selected
    ? listCopy(copy, selected.within(query))
    : list(batches(source, ctx, query))
}
