import { isObject, unverifiedClaims } from '../framework/authn/jwt.ts'
import type { BearerTokenReader } from '../framework/authn/token.ts'
import { reviewedUsers, reviewOf, type TokenReview } from '../framework/authn/tokenreview.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { isClusterName } from '../framework/request/path.ts'
import type { ShardAddress, ShardIndex } from './shardindex.ts'

/** Milliseconds until a review times out. */
const timeout = 10_000

/**
 * Authenticates tokens of service accounts and of a workspace's issuers: the shard of the account or workspace
 * reviews them. The unverified claims only select the shard.
 */
export function shardTokens(
  index: Pick<ShardIndex, 'shardOf'>,
  clientOf: (shard: ShardAddress) => PeerClient,
): BearerTokenReader {
  const users = reviewedUsers()
  return async (token, { cluster = 'root', source }) => {
    const home = accountCluster(token) ?? cluster
    const shard = index.shardOf(home)
    if (shard === undefined) return undefined
    return { user: await users(`${home} ${token}`, source, () => review(clientOf(shard), home, token)) }
  }
}

const review = (client: PeerClient, cluster: ClusterName, token: string): Promise<TokenReview> =>
  client.post<TokenReview>(
    `/clusters/${cluster}/apis/authentication.k8s.io/v1/tokenreviews`,
    reviewOf(token),
    AbortSignal.timeout(timeout),
  )

/** The logical cluster of a service account's token, bound or legacy; undefined for other tokens. */
function accountCluster(token: string): ClusterName | undefined {
  const claims = unverifiedClaims(token) ?? {}
  const bound = claims['kubernetes.io']
  const home = isObject(bound) ? bound.clusterName : claims['kubernetes.io/serviceaccount/clusterName']
  return typeof home === 'string' && isClusterName(home) ? home : undefined
}
