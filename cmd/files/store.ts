import type { Store } from '../../shard/store/store.ts'

/** Opens the store of `--store`: `memory:`, or the directory of a durable store. Loads only the code of that store. */
export async function openStore(where: string): Promise<Store> {
  if (where === 'memory:') return (await import('../../shard/store/memory.ts')).openMemoryStore()
  return (await import('../../shard/store/lmdb.ts')).openLmdbStore(where)
}
