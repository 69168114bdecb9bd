import type * as shared from '../../framework/cache/event.ts'
import type { CachedItem } from './item.ts'

/** One change of one object of the watch cache. */
export type CacheEvent = shared.CacheEvent<CachedItem>
