import { StatusError } from '../../framework/meta/errors.ts'
import type { Store } from '../store/store.ts'
import type { WatchCache } from './contract.ts'

/** Milliseconds that a request waits for the cache: longer than the reconnection of its watch. */
const longestLag = 10_000

/**
 * Waits until the cache has the newest change of all servers. Throws 503 after `longest` milliseconds: the client has not asked
 * for a version, and does not get the error of one that is too large.
 */
export async function catchUp(
  store: Pick<Store, 'latest'>,
  cache: Pick<WatchCache, 'revision' | 'reached'>,
  signal: AbortSignal,
  longest = longestLag,
): Promise<void> {
  const latest = await store.latest()
  if (latest <= cache.revision) return
  await cache.reached(latest, signal, longest)
  if (latest > cache.revision) throw isLate(latest, cache.revision, longest)
}

const isLate = (latest: number, current: number, longest: number): StatusError =>
  new StatusError(
    503,
    'ServiceUnavailable',
    `the server has not received the newest changes from etcd within ${longest / 1_000} seconds: it has resourceVersion ${current} of ${latest}`,
    { retryAfterSeconds: 1 },
  )
