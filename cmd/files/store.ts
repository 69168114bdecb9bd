import type { Store } from '../../shard/store/store.ts'

/** Opens what `--store` names: `memory:`, or the directory of a durable store. Loads only the one that is used. */
export async function openStore(where: string): Promise<Store> {
  if (where === 'memory:') return (await import('../../shard/store/memory.ts')).openMemoryStore()
  return (await import('../../shard/store/lmdb.ts')).openLmdbStore(where)
}
