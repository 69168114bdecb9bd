import type { EtcdOptions } from '../../shard/store/etcd/etcd.ts'
import type { Store } from '../../shard/store/store.ts'
import { type EtcdAccessFlags, etcdAccess, isEtcd } from './etcdaccess.ts'

/** The flags of a store in etcd. */
export interface StoreAccess extends EtcdAccessFlags {
  readonly etcdPrefix?: string
  /** Milliseconds. */
  readonly etcdCompactionInterval?: number
}

/**
 * Opens the store of `--store`: `memory:`, the addresses of an etcd, or the directory of a durable store. Loads only the code
 * of that store.
 */
export async function openStore(where: string, flags: StoreAccess = {}): Promise<Store> {
  if (where === 'memory:') return (await import('../../shard/store/memory.ts')).openMemoryStore()
  if (!isEtcd(where)) return (await import('../../shard/store/lmdb.ts')).openLmdbStore(where)
  const [options, { openEtcdStore }] = await Promise.all([
    etcdOptions(where, flags),
    import('../../shard/store/etcd/etcd.ts'),
  ])
  return openEtcdStore(options)
}

/** Throws `StartError` for addresses, flags and files that are not valid. */
export async function etcdOptions(where: string, flags: StoreAccess): Promise<EtcdOptions> {
  const { etcdPrefix: prefix = '/oriel', etcdCompactionInterval: compactEvery = 300_000 } = flags
  return { ...(await etcdAccess(where, flags)), prefix, compactEvery }
}
