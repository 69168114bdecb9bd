import type { PrintedUser, UserInfo } from '../request/user.ts'
import { reviewVerdicts } from './reviewing.ts'
import { TokenError } from './token.ts'

/** A TokenReview with its status. */
export interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: Partial<PrintedUser>
    readonly error?: string
  }
}

/** The TokenReview of a token; without audiences for those of the reviewing server. */
export const reviewOf = (token: string, audiences?: readonly string[]): object => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec: { token, ...(audiences && { audiences }) },
})

/** The user in the status. Throws `TokenError` for a rejected token. */
export function userIn({ status = {} }: TokenReview): UserInfo {
  const { authenticated = false, user = {}, error = 'token is not known to the shard' } = status
  const { username: name = '', uid, groups = [], extra } = user
  if (!authenticated || name === '') throw new TokenError(error)
  return { name, groups, ...(uid ? { uid } : {}), ...(extra === undefined ? {} : { extra }) }
}

/** Milliseconds for which an accepted token is cached, and a rejected one. A revoked token works no longer. */
const [longest, shortest] = [10_000, 1_000]

/**
 * Users by TokenReviews of another server, with a cache. `key` selects the cached result. Throws what `reviewVerdicts`
 * and `userIn` throw.
 */
export type ReviewedUsers = (
  key: string,
  source: string | undefined,
  review: () => Promise<TokenReview>,
) => Promise<UserInfo>

export function reviewedUsers(): ReviewedUsers {
  // Of the review only the status, because the spec has the token.
  const verdicts = reviewVerdicts<Pick<TokenReview, 'status'>>({
    longest,
    userOf: review => (isAccepted(review) ? userIn(review) : undefined),
  })
  return async (key, source, review) => {
    const found = await verdicts.of(key, source, async () => {
      const { status = {} } = await review()
      const value = { status }
      return { value, expires: Date.now() + (isAccepted(value) ? longest : shortest) }
    })
    return userIn(found)
  }
}

const isAccepted = ({ status }: TokenReview): boolean =>
  status?.authenticated === true && (status.user?.username ?? '') !== ''
