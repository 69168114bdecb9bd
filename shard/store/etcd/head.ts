import { StoreError } from '../store.ts'
import type { EtcdConnection } from './connection.ts'
import type { Fence } from './fence.ts'
import type { Layout } from './layout.ts'
import { decodeRange, encodeRange, type KeyValue } from './messages.ts'

/** The etcd of an installation; `offset` is added to its revisions. */
export interface EtcdTarget {
  readonly connection: EtcdConnection
  readonly layout: Layout
  readonly offset: number
  /** The revision at which the epoch began. */
  readonly floor: number
  readonly fence: Fence
}

/** Another server has found that etcd was restored, or etcd was replaced. */
export class EpochEnded extends StoreError {
  constructor() {
    super(
      'etcd was restored or replaced while the server was running. Start the server again: clients will list again.',
    )
  }
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
export async function headOf({ connection, layout, floor }: EtcdTarget): Promise<Head> {
  const { response } = await connection.call({
    path: '/etcdserverpb.KV/Range',
    request: encodeRange({ key: layout.head, end: after(layout.installation) }),
    decode: decodeRange,
  })
  const found = (key: Buffer) => response.values.find(value => value.key.equals(key))
  if (revisionOf(found(layout.installation)) !== floor) throw new EpochEnded()
  const head = found(layout.head)
  return { modified: revisionOf(head), at: response.header.revision, id: idIn(head) }
}

export const revisionOf = (value: KeyValue | undefined): number => value?.modified ?? 0

/** The value of the head; empty in stores of earlier versions. */
const idIn = (head: KeyValue | undefined): string => head?.value.toString('hex') ?? ''

const after = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])
