import { StatusError } from '../../framework/meta/errors.ts'
import type { ShardAddresses } from '../bootstrap/root.ts'
import type { PeerClient } from '../tenancy/peer.ts'

const shards = '/clusters/root/apis/core.kcp.io/v1alpha1/shards'

/** Makes sure of a shard's Shard in `root`. Of one that is there only the URLs are changed: the rest is the
 * administrator's (chapter 20, section 8.1). */
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
