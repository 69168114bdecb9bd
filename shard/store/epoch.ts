import type { Stats } from 'node:fs'

/** The last transaction of a store. */
export interface LastWrite {
  /** In milliseconds since 1970. */
  readonly time: number
  /** The inode of the file; absent in stores of earlier versions. */
  readonly inode?: number
}

/** Milliseconds from the start of a transaction to its last change of the file, unless the disk stalls. */
const longestWrite = 2_000

/** Milliseconds after which watches cannot be resumed anyway. */
const longestBreak = 300_000

/**
 * Whether a file may be older than what clients have seen: it was copied, moved to another file system, or changed by
 * another program after its last transaction; or that transaction is so old that a snapshot may have been rolled back.
 */
export function mayBeRestored(last: LastWrite | undefined, file: Stats): boolean {
  if (last?.inode === undefined) return false
  const isOther = file.ino !== last.inode || file.ctimeMs > last.time + longestWrite
  return isOther || Date.now() > last.time + longestBreak
}

/** Revisions between a stored state and the epoch that begins when it is restored, at least. */
const leap = 1e9

/**
 * The revision at which a restored store continues. It is higher than all revisions of the lost changes, because no
 * store makes 1000 commits in a millisecond (`etcdutl snapshot restore --bump-revision --mark-compacted`).
 */
export const nextEpoch = (revision: number): number => Math.max(revision + leap, Date.now() * 1_000)

/**
 * Whether the earlier one of two revisions is surely of the epoch of the newer one, and not one of the changes that a restore lost:
 * false for some of the same epoch, after half a billion commits.
 */
const isSameEpoch = (earlier: number, newer: number): boolean => newer - earlier < leap / 2

/** The revisions of the last stored change of an object, and of the last change of what is presented. */
interface Revisions {
  readonly modified: number
  readonly revision: number
}

/**
 * Whether a client's resourceVersion is one of the current content: of the last stored change or later. Servers present an object
 * with new labels at the revision of the change of these, `item.revision`, which a server that was started later does not know: so
 * any revision is good that the cache has applied, `newest`, unless a restore took it back.
 */
export function isCurrent(item: Revisions, resourceVersion: string, newest: number): boolean {
  const version = Number(resourceVersion)
  if (version < item.modified) return false
  return version <= item.revision || (version <= newest && isSameEpoch(version, newest))
}
