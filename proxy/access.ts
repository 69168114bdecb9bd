import type { PeerClient } from '../framework/contract/peer.ts'
import type { UserInfo } from '../framework/request/user.ts'
import { resourcePath, reviews } from '../kcp/resources.ts'
import type { ShardAddress, ShardIndex } from './shardindex.ts'

/** A request for a path of a logical cluster. */
export interface PathAction {
  readonly cluster: string
  readonly path: string
  readonly verb: string
}

/** Whether the user may do this. */
export type Reviewer = (user: UserInfo, action: PathAction, signal: AbortSignal) => Promise<boolean>

interface Review {
  readonly status?: { readonly allowed?: boolean }
}

/** Sends a SubjectAccessReview to the shard of the logical cluster. Rejects when the shard is unreachable. */
export const accessReviews =
  (index: Pick<ShardIndex, 'shardOf'>, clientOf: (shard: ShardAddress) => PeerClient): Reviewer =>
  async (user, { cluster, path, verb }, signal) => {
    const shard = index.shardOf(cluster)
    if (shard === undefined) return false
    const { name, ...rest } = user
    const spec = { user: name, ...rest, nonResourceAttributes: { path, verb } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
    const reviewPath = resourcePath(cluster, reviews.subjectAccessReviews)
    return (await clientOf(shard).post<Review>(reviewPath, review, signal)).status?.allowed === true
  }
