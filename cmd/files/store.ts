import { join } from 'node:path'
import type { EtcdOptions } from '../../shard/store/etcd/etcd.ts'
import type { Seen, SeenPlace } from '../../shard/store/etcd/seen.ts'
import type { Store } from '../../shard/store/store.ts'
import { type EtcdAccessFlags, etcdAccess, isEtcd } from './etcdaccess.ts'
import { readIfThere, writePrivately } from './files.ts'
import type { FileWatchEnding } from './follow.ts'
import { StartError } from './starterror.ts'

/** The flags of a store in etcd. */
export interface StoreAccess extends EtcdAccessFlags {
  readonly etcdPrefix?: string
  /** Milliseconds. */
  readonly etcdCompactionInterval?: number
  /** Where the server keeps what it has seen of etcd; absent for tools. */
  readonly dataDirectory?: string
}

/** `memory://` has one, `memory:` has none. */
const hasScheme = /^(?:[a-z][a-z0-9+.-]*:\/\/|etcd:)/i
const hint = 'give a directory, "memory:", or etcd://host:2379'

/** The value of `--store`, or its default. Throws `StartError` for a value that is not meant to be a directory. */
export function storePlace({ store }: { readonly store?: string }, dataDirectory: string): string {
  if (store === 'memory')
    throw new StartError(
      '--store memory is ambiguous: write "memory:" to keep objects in memory, or "./memory" for a directory.',
    )
  if (store !== undefined && hasScheme.test(store) && !isEtcd(store))
    throw new StartError(`--store ${store} has an unknown scheme: ${hint}.`)
  return store ?? join(dataDirectory, 'store')
}

/**
 * Opens the store of `--store`: `memory:`, the addresses of an etcd, or the directory of a durable store. Loads only the code
 * of that store. `following`: how long the credentials for etcd are read again when they change; absent: never.
 */
export async function openStore(
  where: string,
  flags: StoreAccess = {},
  following?: FileWatchEnding,
): Promise<Store> {
  if (where === 'memory:') return (await import('../../shard/store/memory.ts')).openTemporaryStore()
  if (!isEtcd(where)) return (await import('../../shard/store/lmdb/lmdb.ts')).openDurableStore(where)
  const [options, { openEtcdStore }] = await Promise.all([
    etcdOptions(where, flags, following),
    import('../../shard/store/etcd/etcd.ts'),
  ])
  return openEtcdStore(options)
}

/** Throws `StartError` for addresses, flags and files that are not valid. */
export async function etcdOptions(
  where: string,
  flags: StoreAccess,
  following?: FileWatchEnding,
): Promise<EtcdOptions> {
  const {
    etcdPrefix: prefix = '/oriel',
    etcdCompactionInterval: compactEvery = 300_000,
    dataDirectory,
  } = flags
  const seen = dataDirectory === undefined ? {} : { seen: seenIn(dataDirectory) }
  return { ...(await etcdAccess(where, flags, following)), prefix, compactEvery, ...seen }
}

/** The file `etcd-seen.json` of a data directory. */
function seenIn(directory: string): SeenPlace {
  const path = join(directory, 'etcd-seen.json')
  return {
    read: async () => parseSeen(path, await readIfThere(path)),
    write: seen => writePrivately(path, JSON.stringify(seen)),
  }
}

function parseSeen(path: string, bytes: Buffer | undefined): Seen | undefined {
  if (bytes === undefined) return undefined
  try {
    const { installation, offset, revision, id } = JSON.parse(bytes.toString()) as Seen
    if ([offset, revision].every(Number.isSafeInteger) && typeof id === 'string')
      return { installation, offset, revision, id }
  } catch {
    // Reported below.
  }
  throw new StartError(`${path} is damaged: remove it, unless etcd was restored from a snapshot.`)
}
