import { retry } from '../../framework/async/backoff.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { ShardAddresses } from '../bootstrap/root.ts'

/** Milliseconds. */
const pauses = { first: 500, longest: 5_000 }

/** Retries a request to the root shard until it succeeds. Rejects when `signal` aborts. */
export const untilReached = <T>(
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  request: () => Promise<T>,
): Promise<T> =>
  retry(request, {
    ...pauses,
    signal,
    failed: error => log.warn({ error: String(error) }, 'root shard unreachable, retrying'),
  })

const shards = '/clusters/root/apis/core.kcp.io/v1alpha1/shards'

/**
 * Creates the Shard object of a shard in `root`. In an existing one only the URLs are changed: the administrator owns the
 * rest.
 */
export async function announce(
  root: PeerClient,
  { name, ...spec }: ShardAddresses,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { name, labels: { name } }
  const object = { apiVersion: 'core.kcp.io/v1alpha1', kind: 'Shard', metadata, spec }
  try {
    await root.post(shards, object, signal)
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    await root.patch(`${shards}/${name}`, { spec }, signal)
  }
}
