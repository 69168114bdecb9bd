import { randomUUID } from 'node:crypto'
import { nextEpoch } from '../epoch.ts'
import { StoreError } from '../store.ts'
import type { EtcdConnection } from './connection.ts'
import type { Layout } from './layout.ts'
import { decodeRange, decodeTxn, encodeRange, encodeTxn, type ResponseHeader } from './messages.ts'
import { hasLost, type Seen } from './seen.ts'

/** The record of an installation in etcd. It is written when an epoch begins. */
interface InstallationRecord {
  /** The format of keys and values below the prefix. */
  readonly format: number
  /** Identifies the installation. */
  readonly uid: string
  /** What is added to the revisions of etcd: restored etcds begin again at lower ones. */
  readonly offset: number
  /** The cluster id of etcd, and its raft term. */
  readonly cluster: string
  readonly term: number
  /** It is the copy of another store, which has not ended. */
  readonly incomplete?: true
}

/** An installation as it is in etcd. */
export interface EtcdInstallation extends InstallationRecord {
  /** The revision of etcd at which the epoch began. */
  readonly floor: number
  /** The value of the record, which identifies the installation and its epoch. */
  readonly record: Buffer
}

const format = 1
const attempts = 20

const readKey = (key: Buffer) => ({
  path: '/etcdserverpb.KV/Range',
  request: encodeRange({ key }),
  decode: decodeRange,
})

/** The installation below a prefix, undefined when there is none, and etcd's state. */
export async function readInstallation(
  connection: EtcdConnection,
  layout: Layout,
): Promise<{ readonly found: EtcdInstallation | undefined; readonly header: ResponseHeader }> {
  const { response } = await connection.call(readKey(layout.installation))
  const [value] = response.values
  const found = value && {
    ...parseRecord(value.value, layout),
    floor: value.modified,
    record: value.value,
  }
  return { found, header: response.header }
}

function parseRecord(bytes: Buffer, { prefix }: Layout): InstallationRecord {
  let record: Partial<InstallationRecord> | undefined
  try {
    record = JSON.parse(bytes.toString())
  } catch {
    record = undefined
  }
  if (record?.format === format && typeof record.uid === 'string' && Number.isSafeInteger(record.offset))
    return record as InstallationRecord
  const why =
    typeof record?.format === 'number' && record.format > format
      ? `format ${record.format} of a later version of Oriel: this version reads format ${format}. Start the later version`
      : 'a record that is damaged or of another program. Choose another --etcd-prefix'
  throw new StoreError(`the key ${prefix}/installation in etcd has ${why}.`)
}

/** Whether etcd was restored from a snapshot since the epoch began: it is another cluster, or its terms began again. */
const isRestored = ({ cluster, term }: EtcdInstallation, header: ResponseHeader): boolean =>
  cluster !== header.cluster || header.term < term

export interface OpeningInstallation {
  /** The newest revision of another store, of which the installation becomes a copy. */
  readonly copyOf?: number
  /** What this server has seen of the installation. */
  readonly seen?: Seen | undefined
}

/**
 * The installation below a prefix; the first server creates it. When etcd was restored, a new epoch begins above all
 * revisions that clients may have seen.
 */
export async function openInstallation(
  connection: EtcdConnection,
  layout: Layout,
  { copyOf, seen }: OpeningInstallation = {},
): Promise<EtcdInstallation> {
  const own = randomUUID()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { found, header } = await readInstallation(connection, layout)
    if (found !== undefined && found.uid !== own) checkUse(found, layout, copyOf)
    const isLost = found && (await hasLost({ connection, layout }, found, seen, header.revision))
    if (found !== undefined && !isLost && !isRestored(found, header)) return found
    if (found === undefined) await checkEmpty(connection, layout, header.revision)
    const next: InstallationRecord = {
      format,
      uid: found?.uid ?? own,
      offset: Math.max(offsetOf(found, header, copyOf), isLost ? offsetAfter(seen, header) : 0),
      cluster: header.cluster,
      term: header.term,
      ...(copyOf !== undefined && { incomplete: true }),
    }
    await putRecord(connection, layout, { record: next, replaces: found?.floor ?? 0 })
  }
  throw new StoreError(
    `the installation at ${layout.prefix} in etcd is changed by other servers all the time`,
  )
}

function offsetOf(found: EtcdInstallation | undefined, header: ResponseHeader, copyOf?: number): number {
  if (found !== undefined) return nextEpoch(header.revision + found.offset) - header.revision
  return copyOf === undefined ? 0 : nextEpoch(copyOf) - header.revision
}

/** Revisions of the next epoch are higher than all that the server has seen. */
const offsetAfter = (seen: Seen | undefined, header: ResponseHeader): number =>
  seen === undefined ? 0 : nextEpoch(seen.offset + seen.revision) - header.revision

/** Throws for the incomplete copy by another process, and for a copy to an installation. */
function checkUse({ incomplete }: EtcdInstallation, { prefix }: Layout, copyOf: number | undefined): void {
  if (incomplete === undefined && copyOf === undefined) return
  if (incomplete === undefined)
    throw new StoreError(`etcd has an installation at ${prefix} already: choose another --etcd-prefix.`)
  throw new StoreError(
    `etcd has the beginning of a copy at ${prefix}, which was cut off: remove it with ` +
      `"etcdctl del --prefix ${prefix}/", and copy again.`,
  )
}

/** Ends the copy of another store. */
export async function markComplete(connection: EtcdConnection, layout: Layout): Promise<void> {
  const { found } = await readInstallation(connection, layout)
  if (found === undefined) throw new StoreError(`the copy at ${layout.prefix} was removed from etcd`)
  const { incomplete: _, floor, record: __, ...complete } = found
  await putRecord(connection, layout, { record: complete, replaces: floor })
}

/** Throws when the prefix had keys at a revision without an installation. */
async function checkEmpty(
  connection: EtcdConnection,
  { prefix, all: [key, end] }: Layout,
  revision: number,
): Promise<void> {
  const request = encodeRange({ key, end, limit: 1, revision, keysOnly: true })
  const { response } = await connection.call({ ...readKey(key), request })
  const [value] = response.values
  if (value === undefined) return
  throw new StoreError(
    `the prefix ${prefix} of etcd has keys of another program, such as ${value.key}: choose another --etcd-prefix.`,
  )
}

interface Replacement {
  readonly record: InstallationRecord
  /** The revision of the present record. */
  readonly replaces: number
}

/** Does nothing when another server was faster. */
async function putRecord(
  connection: EtcdConnection,
  { installation, head }: Layout,
  { record, replaces }: Replacement,
): Promise<void> {
  const request = encodeTxn({
    compare: [{ key: installation, revision: replaces }],
    success: [
      { put: { key: installation, value: Buffer.from(JSON.stringify(record)) } },
      { put: { key: head, value: Buffer.alloc(0) } },
    ],
    failure: [],
  })
  await connection.call({ path: '/etcdserverpb.KV/Txn', request, decode: decodeTxn })
}
