import { EtcdConnection } from './connection.ts'
import type { EtcdOptions } from './etcd.ts'
import { EtcdFailure, openError } from './failures.ts'
import { openInstallation } from './installation.ts'
import { layoutOf } from './layout.ts'
import { decodeRange, decodeTxn, encodeRange, encodeTxn } from './messages.ts'

/** Keys and tokens that all servers of an installation have, in etcd below `<prefix>/files/`. */
export interface SharedFiles {
  /** Identifies the installation below the prefix. */
  readonly installation: string
  /**
   * The content of a file. The first server stores what `own` returns; `isUsable`: whether later ones accept it, otherwise
   * theirs replaces it.
   */
  share(name: string, own: () => Promise<Buffer>, isUsable?: (content: Buffer) => boolean): Promise<Buffer>
  close(): void
}

/** Opens the installation below the prefix, and creates it if needed. Throws `StoreError`. */
export async function openSharedFiles(options: EtcdOptions): Promise<SharedFiles> {
  const connection = new EtcdConnection(options)
  const layout = layoutOf(options.prefix)
  const explained = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action()
    } catch (error) {
      throw error instanceof EtcdFailure ? openError(error, options.endpoints) : error
    }
  }
  try {
    const { uid } = await explained(() => openInstallation(connection, layout))
    return {
      installation: uid,
      share: (name, own, isUsable = () => true) => {
        const key = Buffer.from(`${layout.prefix}/files/${name}`)
        return explained(() => shareOne(connection, key, own, isUsable))
      },
      close: () => connection.close(),
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

async function shareOne(
  connection: EtcdConnection,
  key: Buffer,
  own: () => Promise<Buffer>,
  isUsable: (content: Buffer) => boolean,
): Promise<Buffer> {
  for (;;) {
    const read = { path: '/etcdserverpb.KV/Range', request: encodeRange({ key }), decode: decodeRange }
    const [found] = (await connection.call(read)).response.values
    if (found !== undefined && isUsable(found.value)) return found.value
    const value = await own()
    const request = encodeTxn({
      compare: [{ key, revision: found?.modified ?? 0 }],
      success: [{ put: { key, value } }],
      failure: [],
    })
    const write = { path: '/etcdserverpb.KV/Txn', request, decode: decodeTxn }
    if ((await connection.call(write)).response.succeeded) return value
  }
}
