import { TokenError, type TokenReader } from '../../framework/authn/index.ts'
import { createVerdicts } from '../../framework/authn/verdicts.ts'
import type { UserInfo } from '../../framework/user.ts'
import { badGateway } from '../failure.ts'
import { type ShardConnection, textOf } from './connection.ts'

interface Review {
  readonly status?: {
    readonly authenticated?: boolean
    readonly error?: string
    readonly user?: {
      readonly username?: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: NonNullable<UserInfo['extra']>
    }
  }
}

/** Milliseconds for which a token is believed without asking again: a withdrawn one works no longer. */
const believed = 10_000

/** Asks a server whose token it is. Only the digests of tokens are kept. */
export function tokenReviews(connection: ShardConnection): TokenReader {
  const verdicts = createVerdicts<UserInfo>(believed)
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
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    }),
    signal: AbortSignal.timeout(30_000),
  })
  return userIn(await textOf(answer))
}

function userIn(text: string): UserInfo {
  const { authenticated = false, user = {}, error = 'token is not known to the shard' } = statusIn(text)
  const { username: name = '', uid, groups = [], extra } = user
  if (!authenticated || name === '') throw new TokenError(error)
  return { name, groups, ...(uid ? { uid } : {}), ...(extra === undefined ? {} : { extra }) }
}

function statusIn(text: string): NonNullable<Review['status']> {
  try {
    return (JSON.parse(text) as Review).status ?? {}
  } catch {
    throw badGateway('its answer is no review')
  }
}
