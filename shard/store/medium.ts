import type { StoredValue, StoreEvent } from './store.ts'

/** A logged commit: all its events share the revision. */
export interface Commit {
  readonly revision: number
  /** The time of the commit, in milliseconds since the epoch. */
  readonly time: number
  /** Of the keys and of the values, also of those before. */
  readonly bytes: number
  readonly events: readonly StoreEvent[]
}

/** How much one read returns: values end with the one that reaches a limit. */
export interface Most {
  readonly count: number
  readonly bytes: number
}

/**
 * The storage below a store: current values, and the log of commits. All methods except `write` and `forget` are
 * synchronous, so that no cursor lives across an await. The caller owns returned buffers.
 */
export interface Medium {
  /** The state when it was opened: the newest revision, and the revision up to which the log is compacted. */
  readonly found: { readonly revision: number; readonly compacted: number }
  get(key: string): StoredValue | undefined
  /** The first values with keys in [from, to), in key order; none if there are none. */
  scan(from: string, to: string, most: Most): readonly StoredValue[]
  /** The first commits with revision > after, in order. */
  log(after: number, most: Most): readonly Commit[]
  /** Why writes are no longer possible: its files were removed or replaced. */
  problem(): Error | undefined
  /** Applies and logs commits in one transaction; resolves when they are durable. */
  write(commits: readonly Commit[]): Promise<void>
  /** Drops the log up to and including `revision`, and stores that revision. */
  forget(revision: number): Promise<void>
  close(): Promise<void>
}
