import type { CommitLog } from './commitlog.ts'
import type { EtcdConnection } from './connection.ts'
import { EpochEnded } from './epochended.ts'
import type { Fence } from './fence.ts'
import type { Layout } from './layout.ts'
import { decodeRange, encodeRange, type KeyValue } from './messages.ts'
import type { SeenCommit, SeenLog } from './seen.ts'

/** The etcd of an installation; `offset` is added to its revisions. */
export interface EtcdTarget {
  readonly connection: EtcdConnection
  readonly layout: Layout
  readonly offset: number
  /** The record of the installation, which is another one in another epoch and in another installation. */
  readonly record: Buffer
  readonly fence: Fence
  readonly commits: CommitLog
  readonly seen: SeenLog
}

/** The newest commit. */
export interface Head extends SeenCommit {
  /** Its revision; 0 when the key is missing. */
  readonly modified: number
  /** The revision at which it was read. */
  readonly at: number
}

/** Reads and notes the newest commit. Throws `EpochEnded`, also when it is older than one that was known before. */
export async function headOf(target: EtcdTarget): Promise<Head> {
  const { connection, layout, seen } = target
  const known = seen.revision
  const { response } = await connection.call({
    path: '/etcdserverpb.KV/Range',
    request: encodeRange({ key: layout.head, end: after(layout.installation) }),
    decode: decodeRange,
  })
  const found = (key: Buffer) => response.values.find(value => value.key.equals(key))
  checkRecord(target, found(layout.installation))
  const value = found(layout.head)
  const head = { modified: revisionOf(value), at: response.header.revision, id: idIn(value) }
  if ((head.modified || head.at) < known) throw new EpochEnded()
  seen.note(head)
  return head
}

/** Throws `EpochEnded` unless etcd has the installation and the epoch of this server. */
export function checkRecord({ record }: EtcdTarget, found: KeyValue | undefined): void {
  if (found?.value.equals(record) !== true) throw new EpochEnded()
}

export const revisionOf = (value: KeyValue | undefined): number => value?.modified ?? 0

/** The value of the head; empty in stores of earlier versions. */
export const idIn = (head: KeyValue | undefined): string => head?.value.toString('hex') ?? ''

const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])
