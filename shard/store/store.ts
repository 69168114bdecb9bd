/** One key's value at a revision. Revisions are positive, one per commit, shared by all changes of that commit. */
export interface StoredValue {
  readonly key: string
  readonly value: Buffer
  readonly created: number
  readonly modified: number
  /** The checksum of the bytes is wrong. Present in ranges and events; `get` throws. */
  readonly damaged?: true
}

/**
 * One change of a commit. `expected`: the `modified` revision that it replaces, 0 for "must not exist"; absent: no
 * condition.
 */
export interface StoreChange {
  readonly key: string
  /** undefined deletes. */
  readonly value: Buffer | undefined
  readonly expected?: number
}

/** What a commit requires of a key that it does not change: its `modified` revision; 0: it is missing. */
export interface StoreCondition {
  readonly key: string
  readonly expected: number
}

/** A change as watchers see it; `value` is absent for a deletion, `previous` for a creation. */
export interface StoreEvent {
  readonly revision: number
  readonly key: string
  readonly value?: StoredValue
  readonly previous?: StoredValue
}

/** The store cannot be opened, read or written. The message is one sentence for the operator. */
export class StoreError extends Error {}

/** Thrown by `commit`: a key was not at its expected revision. Nothing was written. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict'
  readonly key: string
  constructor(key: string) {
    super(`${key} is not at the expected revision`)
    this.key = key
  }
}

/** Thrown by `commit`: the store does not accept commits of this size. Nothing was written. */
export class CommitTooLarge extends Error {
  override readonly name = 'CommitTooLarge'
}

/** Thrown by `watch` and `range`: the revision has been compacted. */
export class Compacted extends Error {
  override readonly name = 'Compacted'
  readonly oldest: number
  constructor(oldest: number) {
    super(`revisions up to ${oldest} are compacted`)
    this.oldest = oldest
  }
}

/** The same value. Throws `StoreError` when it is damaged. */
export function intact<T extends StoredValue | undefined>(value: T): T {
  if (value?.damaged)
    throw new StoreError(
      `the stored value of ${value.key} at revision ${value.modified} is damaged: its checksum differs`,
    )
  return value
}

/**
 * Bytes by revision. A commit is acknowledged after it is durable. Implementations pass `test/contract/store`.
 *
 * Embedded stores have one writer: revisions are consecutive in the order of the calls, and no watcher sees a commit
 * before it is acknowledged. A store in etcd is shared: there, other servers write, too.
 */
export interface Store {
  /** Whether other processes may write to the store. */
  readonly isShared: boolean
  /** The newest revision that this process knows; it never decreases. */
  readonly revision: number
  /**
   * The oldest available revision: earlier states are not readable, and events up to it not watchable; `revision` when
   * nothing was written yet. The state at this revision is readable, and a watch may start after it.
   */
  readonly compacted: number
  /** Resolves with the reason when writes are no longer possible; all acknowledged commits are kept. */
  readonly failed: Promise<Error>
  /**
   * The revision of the newest commit of all writers: a state at least as new as it has every commit that was acknowledged
   * before the call.
   */
  latest(): Promise<number>
  /** The value at `revision`. Throws for a damaged value. */
  get(key: string): Promise<StoredValue | undefined>
  /**
   * Keys in [from, to) in byte order, as of `revision` (default: newest). Holds no cursor across a yield. Throws
   * `Compacted`, possibly halfway, when the revision is compacted.
   */
  range(
    from: string,
    to: string,
    options?: { limit?: number; revision?: number },
  ): AsyncGenerator<readonly StoredValue[]>
  /**
   * Applies all changes or none. Resolves with the commit's revision when it is durable, or with the newest revision
   * when nothing changed (deletions of missing keys). Throws `StoreConflict`: with the key of a change that is not at its
   * revision, or with that of a condition. Each key occurs at most once and has at most 1,900 bytes.
   */
  commit(changes: readonly StoreChange[], conditions?: readonly StoreCondition[]): Promise<number>
  /** Events with revision > after, in order; a commit is never split over two batches. Ends when `signal` aborts. */
  watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoreEvent[]>
  /** Drops history up to and including `revision`; current values stay. */
  compact(revision: number): Promise<void>
  close(): Promise<void>
}
