import type { WatchSource } from '../../framework/cache/following.ts'
import type { Snapshot } from '../../framework/cache/pages.ts'
import type { StoredResource } from './key.ts'

/** What list and watch read: one resource of the watch cache. */
export interface Source extends WatchSource {
  readonly resource: StoredResource
  /** Milliseconds that a reader waits for a version which has not come. */
  readonly patience: number
  snapshot(): Snapshot
  /** The state at an earlier revision; undefined when the ring does not reach back so far. */
  snapshotAt(revision: number): Snapshot | undefined
  /** Keeps a snapshot at hand for the next page of a list. */
  keep(revision: number, snapshot: Snapshot): void
  /** Resolves when the cache has reached `revision`, when `signal` is aborted, or after `milliseconds` if given. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void>
}
