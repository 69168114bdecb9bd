import { isObject, unverifiedClaims } from '../framework/authn/jwt.ts'
import type { BearerTokenReader } from '../framework/authn/token.ts'
import {
  type ReviewedUsers,
  reviewedUsers,
  reviewOf,
  type TokenReview,
} from '../framework/authn/tokenreview.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { isClusterName } from '../framework/request/path.ts'
import { resourcePath, reviews } from '../kcp/resources.ts'
import type { ShardAddress, ShardIndex } from './shardindex.ts'
import { userAt } from './shardusers.ts'

/** Milliseconds until a review times out. */
const timeout = 10_000

/**
 * Authenticates tokens of service accounts and of a workspace's issuers: the shard of the account or workspace
 * reviews them. The unverified claims only select the shard. A shard other than that of `root` tells only who a user is in
 * its own logical cluster. Each shard has reviews of its own: one that does not answer takes none of the others.
 */
export function shardTokens(
  index: Pick<ShardIndex, 'shardOf'>,
  clientOf: (shard: ShardAddress) => PeerClient,
): BearerTokenReader {
  const reviewed = new WeakMap<ShardAddress, ReviewedUsers>()
  const usersOf = (shard: ShardAddress): ReviewedUsers => {
    const users = reviewed.get(shard) ?? reviewedUsers()
    reviewed.set(shard, users)
    return users
  }
  return async (token, { cluster = 'root', source }) => {
    const home = accountCluster(token) ?? cluster
    const shard = index.shardOf(home)
    if (shard === undefined) return undefined
    const ask = (): Promise<TokenReview> => review(clientOf(shard), home, token)
    const user = await usersOf(shard)(`${home} ${token}`, source, ask)
    return { user: shard === index.shardOf('root') ? user : userAt(home, user) }
  }
}
const review = (client: PeerClient, cluster: ClusterName, token: string): Promise<TokenReview> =>
  client.post<TokenReview>(
    resourcePath(cluster, reviews.tokenReviews),
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
