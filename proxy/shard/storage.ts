import type { ResourceRef } from '../../framework/backend.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import type { ShardConnection } from './connection.ts'
import { list } from './listing.ts'
import { sourceOf } from './source.ts'
import { watch } from './watching.ts'
import { create, get, remove, update } from './writing.ts'

/** Objects of one resource as they lie on a shard. What they are is decided there; bytes pass. */
export function remoteStorage(connection: ShardConnection, ref: ResourceRef): ResourceStorage {
  const source = sourceOf(connection, ref)
  return {
    get: get(source),
    list: (ctx, query) => list(source, ctx, query),
    watch: (ctx, query) => watch(source, ctx, query),
    create: create(source),
    update: update(source),
    delete: remove(source),
  }
}
