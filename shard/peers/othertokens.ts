import type { ReviewElsewhere } from '../../framework/authn/index.ts'
import { reviewOf, type TokenReview } from '../../framework/authn/tokenreview.ts'
import { createVerdicts, type TokenVerdict } from '../../framework/authn/verdicts.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import { isCopied } from '../../framework/contract/item.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { isClusterName } from '../../framework/request/path.ts'
import { shardAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resourcePath, resources, reviews } from '../../kcp/resources.ts'
import { beingMigrated, partialStateOf } from '../apis/moved.ts'
import type { Peers } from '../tenancy/peer.ts'

/** Milliseconds that an accepted token is cached, a refused one, and in which an answer has to arrive. */
const [accepted, refused, longest] = [10_000, 1_000, 5_000]

interface Answer {
  readonly isAccepted: boolean
}

/**
 * Asks the shard of a logical cluster by a TokenReview; all other shards where it is not known. Only the shard that serves the
 * logical cluster answers, so that no shard passes a review on. While the logical cluster moves, none can tell: 503.
 */
export function otherTokens(
  { informers }: { readonly informers: Informers },
  peers: Peers,
): (cluster: ClusterName) => ReviewElsewhere | undefined {
  const clusters = informers.for(resources.logicalClusters)
  const verdicts = createVerdicts<Answer>(accepted)
  return cluster => {
    const home = clusters.get(cluster, '', logicalClusterName)
    if (home && !isCopied(home.meta) && partialStateOf(home.meta.annotations) !== undefined)
      return () => Promise.reject(beingMigrated())
    if (peers.size === 0 || !isClusterName(cluster) || (home && !isCopied(home.meta))) return undefined
    const known = peers.get(home?.meta.annotations[shardAnnotation] ?? '')
    const asked = known === undefined ? [...peers.values()] : [known]
    return async (token, audiences) => {
      const review = (): Promise<boolean> => reviewAt(asked, cluster, reviewOf(token, audiences))
      const key = JSON.stringify([cluster, token, audiences])
      return (await verdicts.of(key, async () => verdict(await review()))).isAccepted
    }
  }
}

const verdict = (isAccepted: boolean): TokenVerdict<Answer> => ({
  value: { isAccepted },
  expires: Date.now() + (isAccepted ? accepted : refused),
})

const isUnavailable = (error: unknown): boolean => error instanceof StatusError && error.code === 503

/** Whether one of the shards accepts the token; the first that does answers for all. Throws when none does and one of them answers 503. */
async function reviewAt(
  asked: readonly PeerClient[],
  cluster: ClusterName,
  review: object,
): Promise<boolean> {
  const path = resourcePath(cluster, reviews.tokenReviews)
  const answers = asked.map(async peer => {
    const { status } = await peer.post<TokenReview>(path, review, AbortSignal.timeout(longest))
    if (status?.authenticated !== true) throw new Error('the shard does not accept the token')
    return true
  })
  return Promise.any(answers).catch(({ errors }: AggregateError) => {
    const unavailable = errors.find(isUnavailable)
    if (unavailable !== undefined) throw unavailable as StatusError
    return false
  })
}
