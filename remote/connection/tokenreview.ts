import type { BearerTokenReader } from '../../framework/authn/index.ts'
import { reviewedUsers, reviewOf, type TokenReview } from '../../framework/authn/tokenreview.ts'
import { badGateway } from '../../framework/net/failure.ts'
import { reviews } from '../../kcp/resources.ts'
import { type ShardConnection, textOf } from './connection.ts'
import { targetOf } from './target.ts'

/** Authenticates tokens by a TokenReview in `root`. Caches digests of tokens, not tokens. */
export function tokenReviews(connection: ShardConnection): BearerTokenReader {
  const users = reviewedUsers()
  return async (token, { source }) => ({ user: await users(token, source, () => review(connection, token)) })
}

async function review(connection: ShardConnection, token: string): Promise<TokenReview> {
  const answer = await connection.ask({
    method: 'POST',
    target: targetOf(reviews.tokenReviews, { cluster: 'root' }),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(reviewOf(token)),
    signal: AbortSignal.timeout(30_000),
  })
  return parsed(await textOf(answer))
}

function parsed(text: string): TokenReview {
  try {
    return JSON.parse(text)
  } catch {
    throw badGateway('its response is not a TokenReview')
  }
}
