import type { CommitLog } from './commitlog.ts'
import type { EtcdConnection } from './connection.ts'
import { EpochEnded } from './epochended.ts'
import type { Fence } from './fence.ts'
import type { Layout } from './layout.ts'
import { decodeRange, encodeRange, type KeyValue } from './messages.ts'

/** The etcd of an installation; `offset` is added to its revisions. */
export interface EtcdTarget {
  readonly connection: EtcdConnection
  readonly layout: Layout
  readonly offset: number
  /** The record of the installation, which is another one in another epoch and in another installation. */
  readonly record: Buffer
  readonly fence: Fence
  readonly commits: CommitLog
}

/** The newest commit. */
export interface Head {
  /** Its revision; 0 when the key is missing. */
  readonly modified: number
  /** The revision at which it was read. */
  readonly at: number
  /** Identifies the commit. */
  readonly id: string
}

/** Reads the newest commit. Throws `EpochEnded`. */
export async function headOf(target: EtcdTarget): Promise<Head> {
  const { connection, layout } = target
  const { response } = await connection.call({
    path: '/etcdserverpb.KV/Range',
    request: encodeRange({ key: layout.head, end: after(layout.installation) }),
    decode: decodeRange,
  })
  const found = (key: Buffer) => response.values.find(value => value.key.equals(key))
  checkRecord(target, found(layout.installation))
  const head = found(layout.head)
  return { modified: revisionOf(head), at: response.header.revision, id: idIn(head) }
}

/** Throws `EpochEnded` unless etcd has the installation and the epoch of this server. */
export function checkRecord({ record }: EtcdTarget, found: KeyValue | undefined): void {
  if (found?.value.equals(record) !== true) throw new EpochEnded()
}

export const revisionOf = (value: KeyValue | undefined): number => value?.modified ?? 0

/** The value of the head; empty in stores of earlier versions. */
const idIn = (head: KeyValue | undefined): string => head?.value.toString('hex') ?? ''

const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])
