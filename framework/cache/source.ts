import type { Ring } from './ring.ts'
import type { Ticker } from './ticker.ts'

/** What a watch reads: one resource of a cache. */
export interface WatchSource {
  readonly ring: Ring
  readonly ticker: Ticker
  /** Milliseconds between the bookmarks of one watch. */
  readonly bookmarkEvery: number
  /** The revision up to which the cache is current. */
  readonly revision: number
  /** Aborted when the cache is closed. */
  readonly closed: AbortSignal
}
