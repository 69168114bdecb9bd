import { join } from 'node:path'
import { fileName } from '../../shard/store/lmdb/tables.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { StartError } from '../files/starterror.ts'

/** Where a store is. */
export interface StoreFlags {
  readonly dataDirectory: string
  readonly store?: string
}

/** The directory of the store. Throws `StartError` for `memory:` and etcd. */
export function storeIn({ dataDirectory, store = join(dataDirectory, 'store') }: StoreFlags): string {
  if (store === 'memory:') throw new StartError('A store in memory has no files: give --store a directory.')
  if (isEtcd(store))
    throw new StartError(
      'This command is for stores in a directory: use "etcdctl snapshot save" and "etcdutl snapshot restore" for etcd.',
    )
  return store
}

export const storeFile = (directory: string): string => join(directory, fileName)

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `0 B`, `1.5 KiB`, `12 MiB` */
export function sizeText(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
