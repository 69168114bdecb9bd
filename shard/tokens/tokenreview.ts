import { type TokenAuthenticator, TokenError } from '../../framework/authn/index.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { itemOf } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { accountOf, type PrintedUser, printUser } from '../../framework/request/user.ts'
import { createOnly } from '../../framework/verbs/createonly.ts'

interface TokenReview extends KubeObject {
  readonly spec?: { readonly token?: string; readonly audiences?: readonly string[] }
}

interface Status {
  readonly authenticated?: true
  readonly user: Partial<PrintedUser>
  readonly audiences?: readonly string[]
  readonly error?: string
}

/**
 * Authenticates a token in this logical cluster (rules.md 9.20): nothing is stored, the object is returned with a
 * status.
 */
export const tokenReviewStorage = (tokens: TokenAuthenticator): ResourceStorage =>
  createOnly({ group: 'authentication.k8s.io', resource: 'tokenreviews' }, async (ctx, _key, object) =>
    itemOf({ ...object, status: await statusOf(tokens, ctx, object as TokenReview) }, ctx.cluster),
  )

async function statusOf(
  tokens: TokenAuthenticator,
  { cluster, user, requestor }: RequestContext,
  { spec }: TokenReview,
): Promise<Status> {
  const { token, audiences = [] } = spec ?? {}
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  try {
    const found = await tokens.identify(token, { cluster, audiences, source: accountOf(user, requestor) })
    return { authenticated: true, user: printUser(found.user), audiences: found.audiences }
  } catch (error) {
    if (error instanceof TokenError) return { user: {}, error: error.message }
    throw error
  }
}
