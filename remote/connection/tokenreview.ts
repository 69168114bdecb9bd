import type { BearerTokenReader } from '../../framework/authn/index.ts'
import { reviewOf, type TokenReview, userIn } from '../../framework/authn/tokenreview.ts'
import { createVerdicts } from '../../framework/authn/verdicts.ts'
import { badGateway } from '../../framework/net/failure.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { type ShardConnection, textOf } from './connection.ts'

/** Milliseconds for which the result of a review is cached. A revoked token works no longer than this. */
const cacheTTL = 10_000

/** Authenticates tokens by a TokenReview in `root`. Caches digests of tokens, not tokens. */
export function tokenReviews(connection: ShardConnection): BearerTokenReader {
  const verdicts = createVerdicts<UserInfo>(cacheTTL)
  return async token => ({
    user: await verdicts.of(token, async () => ({
      value: await review(connection, token),
      expires: Number.POSITIVE_INFINITY,
    })),
  })
}

async function review(connection: ShardConnection, token: string): Promise<UserInfo> {
  const answer = await connection.ask({
    method: 'POST',
    target: '/clusters/root/apis/authentication.k8s.io/v1/tokenreviews',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(reviewOf(token)),
    signal: AbortSignal.timeout(30_000),
  })
  return userIn(parsed(await textOf(answer)))
}

function parsed(text: string): TokenReview {
  try {
    return JSON.parse(text)
  } catch {
    throw badGateway('its response is not a TokenReview')
  }
}
