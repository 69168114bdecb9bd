import type { StoredValue, StoreEvent } from './store.ts'

/** One commit as it is logged: all its events share the revision. */
export interface Commit {
  readonly revision: number
  /** When it was made, in milliseconds since the epoch. */
  readonly time: number
  readonly events: readonly StoreEvent[]
}

/**
 * Where a store's bytes lie: current values, and the log of commits that made them. Everything but `write` and `forget`
 * is synchronous, so that no cursor can live across an await. Buffers that come out are the caller's to keep.
 */
export interface Medium {
  /** The state found when it was opened: the newest revision, and the one up to which the log is forgotten. */
  readonly found: { readonly revision: number; readonly compacted: number }
  get(key: string): StoredValue | undefined
  /** At most `limit` values with keys in [from, to), in key order. */
  scan(from: string, to: string, limit: number): readonly StoredValue[]
  /** At most `limit` commits with revision > after, in order. */
  log(after: number, limit: number): readonly Commit[]
  /** Why nothing can be written any more: its files were removed or replaced. */
  problem(): Error | undefined
  /** Applies and logs commits in one transaction; resolves when they are durable. */
  write(commits: readonly Commit[]): Promise<void>
  /** Drops the log up to and including `revision`, and remembers that. */
  forget(revision: number): Promise<void>
  close(): Promise<void>
}
