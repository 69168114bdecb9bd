import { LRUCache } from 'lru-cache'
import type { Informers } from '../../framework/contract/informer.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { OtherShards } from '../../framework/contract/workspace.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { shardAnnotation } from '../../kcp/annotations.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { resourcePath, resources, reviews } from '../../kcp/resources.ts'
import type { Peers } from '../tenancy/peer.ts'

interface Review {
  readonly status?: { readonly allowed?: boolean }
}

/** Milliseconds that an answer is used, and in which it has to arrive. */
const kept = 3_000
const longest = 5_000
/** Characters: a token of a tenant can have many groups. */
const longestKey = 10_000

/** Asks other shards by SubjectAccessReviews. A shard that does not answer gives no access. */
export function otherShards({ informers }: { readonly informers: Informers }, peers: Peers): OtherShards {
  const clusters = informers.for(resources.logicalClusters)
  const known = new LRUCache<string, Promise<boolean>>({ max: 10_000, ttl: kept })
  const peerOf = (cluster: ClusterName): PeerClient | undefined => {
    const home = clusters.get(cluster, '', logicalClusterName)
    return peers.get(home?.meta.annotations[shardAnnotation] ?? '')
  }
  return {
    has: cluster => peerOf(cluster) !== undefined,
    async mayAccess(user, cluster) {
      const key = JSON.stringify([user, cluster])
      const answer = known.get(key) ?? ask(peerOf(cluster), user, cluster)
      if (key.length <= longestKey) known.set(key, answer, { noUpdateTTL: true })
      return answer
    },
  }
}

async function ask(peer: PeerClient | undefined, user: UserInfo, cluster: ClusterName): Promise<boolean> {
  const { name, ...rest } = user
  const spec = { user: name, ...rest, nonResourceAttributes: { path: '/', verb: 'access' } }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const path = resourcePath(cluster, reviews.subjectAccessReviews)
  try {
    const answer = await peer?.post<Review>(path, review, AbortSignal.timeout(longest))
    return answer?.status?.allowed === true
  } catch {
    return false
  }
}
