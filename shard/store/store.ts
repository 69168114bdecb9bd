/** One key's value at a revision. Revisions are positive, one per commit, shared by all changes of that commit. */
export interface StoredValue {
  readonly key: string
  readonly value: Buffer
  readonly created: number
  readonly modified: number
  /** The bytes are not those that were written. Present in ranges and events; `get` throws. */
  readonly damaged?: true
}

/** One change of a commit. `expected`: the `modified` revision it replaces, 0 for "must not exist"; absent: whatever is there. */
export interface StoreChange {
  readonly key: string
  /** undefined deletes. */
  readonly value: Buffer | undefined
  readonly expected?: number
}

/** A change as watchers see it; `value` is absent for a deletion, `previous` for a creation. */
export interface StoreEvent {
  readonly revision: number
  readonly key: string
  readonly value?: StoredValue
  readonly previous?: StoredValue
}

/** The store cannot be opened, read or written; the message is one sentence for the operator. */
export class StoreError extends Error {}

/** Thrown by `commit`: some key was not at its expected revision. Nothing was written. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict'
  readonly key: string
  constructor(key: string) {
    super(`${key} is not at the expected revision`)
    this.key = key
  }
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

/**
 * Bytes by revision. One writer; a commit is acknowledged after it is durable, and no watcher sees it before.
 * Implementations pass `test/contract/store`.
 */
export interface Store {
  /** The newest acknowledged revision; 0 when nothing was ever written. */
  readonly revision: number
  /** The past ends here: states before this revision are not readable, events up to it not watchable; 0 when nothing
   * was forgotten. The state at exactly this revision still is readable, and a watch may begin after it. */
  readonly compacted: number
  /** Resolves with the reason when nothing can be written any more; all that was acknowledged is kept. */
  readonly failed: Promise<Error>
  /** Throws for a damaged value. */
  get(key: string): Promise<StoredValue | undefined>
  /** Keys in [from, to) in byte order, as of `revision` (default: newest). Never holds a cursor across a yield. Throws
   * `Compacted`, possibly halfway, when the revision is forgotten. */
  range(
    from: string,
    to: string,
    options?: { limit?: number; revision?: number },
  ): AsyncGenerator<readonly StoredValue[]>
  /** All or nothing. Resolves with the commit's revision after it is durable, or with the newest when it changed nothing
   * (deletions of what is not there); throws `StoreConflict`. A key is named at most once
   * and has at most 1,900 bytes. */
  commit(changes: readonly StoreChange[]): Promise<number>
  /** Events with revision > after, in order, a commit never split over two batches. Ends when `signal` aborts. */
  watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoreEvent[]>
  /** Forgets history up to and including `revision`; current values stay. */
  compact(revision: number): Promise<void>
  close(): Promise<void>
}
