import { LRUCache } from 'lru-cache'
import { reviewAttributes } from '../authz/chain/attributes.ts'
import { type Action, type Authorizer, type Decision, noOpinion } from '../framework/contract/authorizer.ts'
import { isNotFound } from '../framework/meta/statuschecks.ts'
import { badGateway } from '../framework/net/failure.ts'
import type { UserInfo } from '../framework/request/user.ts'
import { reviews } from '../kcp/resources.ts'
import { type ShardAnswer, type ShardConnection, textOf } from './connection/connection.ts'
import { targetOf } from './connection/target.ts'

const by = 'shard.subjectaccessreview'

/** Milliseconds that decisions are cached: an allowed action longer than a refused one. */
const cacheTTL = { allow: 5_000, otherwise: 1_000 }

interface Review {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string }
}

/** Longer questions are not cached: the groups in one access review can have megabytes. */
const longest = 10_000

/** The connection to the server that has the RBAC of a logical cluster. */
export type ConnectionOf = (cluster: string) => ShardConnection

/** Authorizes by a SubjectAccessReview in the logical cluster of the action. */
export function reviewAuthorizer(connectionOf: ConnectionOf): Authorizer {
  const known = new LRUCache<string, Promise<Decision>>({ max: 10_000, ttl: cacheTTL.allow })
  const { forget, stampOf } = createStamps()
  return {
    forget,
    async authorize(user, action) {
      if (action.cluster === '*') return noOpinion('access to all logical clusters is not reviewed', by)
      const key = JSON.stringify([user, action, stampOf(action.cluster)])
      const before = known.get(key)
      if (before !== undefined) return before
      const answer = review(connectionOf(action.cluster), user, action)
      if (key.length > longest) return answer
      known.set(key, answer)
      answer.then(
        ({ effect }) => {
          if (effect !== 'allow') known.set(key, answer, { ttl: cacheTTL.otherwise })
        },
        () => known.delete(key),
      )
      return answer
    },
  }
}

/** Logical clusters whose decisions were forgotten, after which all decisions are. */
const mostStamps = 10_000

/** Text that is another one after the decisions of a logical cluster, or of all (`*`), were forgotten. */
function createStamps() {
  const stamps = new Map<string, number>()
  let last = 0
  return {
    stampOf: (cluster: string): string => `${stamps.get('*') ?? 0}.${stamps.get(cluster) ?? 0}`,
    forget(cluster: string): void {
      if (stamps.size < mostStamps) return void stamps.set(cluster, ++last)
      stamps.clear()
      stamps.set('*', ++last)
    },
  }
}

/** A logical cluster that does not exist gives the same answer as one without permission. */
async function review(connection: ShardConnection, user: UserInfo, action: Action): Promise<Decision> {
  try {
    const answer = await sendReview(connection, user, action)
    return { ...decisionIn(await textOf(answer)), asked: { user, action } }
  } catch (error) {
    if (!isNotFound(error)) throw error
    return { ...noOpinion('access denied', by), asked: { user, action } }
  }
}

/** The request has its own timeout: several callers share the cached promise, so no caller's signal may abort it. */
const sendReview = (connection: ShardConnection, user: UserInfo, action: Action): Promise<ShardAnswer> =>
  connection.ask({
    method: 'POST',
    target: targetOf(reviews.subjectAccessReviews, { cluster: action.cluster }),
    headers: {
      'content-type': 'application/json',
      ...(action.deep ? { 'x-kcp-internal-deep-subjectaccessreview': 'true' } : {}),
    },
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { ...subjectOf(user), ...reviewAttributes(action) },
    }),
    signal: AbortSignal.timeout(30_000),
  })

const subjectOf = ({ name, uid, groups, extra }: UserInfo) => ({
  user: name,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
})

function decisionIn(text: string): Decision {
  const { allowed = false, denied = false, reason = '' } = statusIn(text)
  return { effect: allowed ? 'allow' : denied ? 'deny' : 'no opinion', reason, authorizer: by }
}

function statusIn(text: string): NonNullable<Review['status']> {
  try {
    return (JSON.parse(text) as Review).status ?? {}
  } catch {
    throw badGateway('its response is not a SubjectAccessReview')
  }
}
