import type { StoredResource } from './key.ts'
import type { Snapshot } from './pages.ts'
import type { Ring } from './ring.ts'
import type { Ticker } from './ticker.ts'

/** What list and watch read: one resource of the watch cache. */
export interface Source {
  readonly resource: StoredResource
  readonly ring: Ring
  readonly ticker: Ticker
  /** Milliseconds between the bookmarks of one watch. */
  readonly bookmarkEvery: number
  /** Milliseconds that a reader waits for a version which has not come. */
  readonly patience: number
  /** The revision up to which the whole cache is current. */
  readonly revision: number
  /** Aborted when the cache is closed. */
  readonly closed: AbortSignal
  snapshot(): Snapshot
  /** The state at an earlier revision; undefined when the ring does not reach back so far. */
  snapshotAt(revision: number): Snapshot | undefined
  /** Keeps a snapshot at hand for the next page of a list. */
  keep(revision: number, snapshot: Snapshot): void
  /** Resolves when the cache has reached `revision`, when `signal` is aborted, or after `milliseconds` if given. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void>
}
