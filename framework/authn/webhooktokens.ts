import { StatusError } from '../meta/errors.ts'
import type { UserInfo } from '../request/user.ts'
import { authenticated } from './authentication.ts'
import { isObject, isTexts } from './jwt.ts'
import { reviewVerdicts } from './reviewing.ts'
import { type BearerTokenReader, TokenError } from './token.ts'
import type { TokenVerdict } from './verdicts.ts'

export interface WebhookTokensOptions {
  /** Sends a TokenReview and resolves with the response. Rejects if there is no valid response. */
  readonly send: (review: object) => Promise<unknown>
  readonly version: 'v1' | 'v1beta1'
  /** Milliseconds for which a response is cached. */
  readonly cacheTTL: number
}

/** The defaults of Kubernetes. */
export const webhookTokensDefaults = { version: 'v1beta1', cacheTTL: 120_000 } as const

/** The response: the user of the token, or the reason of its rejection. */
type Reviewed =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly problem: string }

/**
 * Users by TokenReview to a webhook (`apiserver/plugin/pkg/authenticator/token/webhook`). A failure of the webhook
 * rejects the token.
 */
export function webhookTokens({ send, version, cacheTTL }: WebhookTokensOptions): BearerTokenReader {
  const verdicts = reviewVerdicts<Reviewed>({
    longest: cacheTTL,
    userOf: reviewed => ('user' in reviewed ? reviewed.user : undefined),
  })
  const ask = async (token: string, audiences: readonly string[]): Promise<TokenVerdict<Reviewed>> => {
    const apiVersion = `authentication.k8s.io/${version}`
    const review = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences } }
    const value = reviewedIn(await send(review), audiences)
    return { value, expires: Number.POSITIVE_INFINITY }
  }
  return async (token, { audiences = [], source }) => {
    const question = JSON.stringify([token, audiences])
    const reviewed = await verdicts.of(question, source, () => ask(token, audiences)).catch(failed)
    if ('problem' in reviewed) throw new TokenError(reviewed.problem)
    const { user, audiences: found } = reviewed
    return { user, ...(found.length > 0 && { audiences: found }) }
  }
}

function failed(error: Error): never {
  if (error instanceof StatusError && error.code === 429) throw error
  throw new TokenError(`token webhook failed: ${error.message}`, true)
}

function reviewedIn(answer: unknown, asked: readonly string[]): Reviewed {
  const status = isObject(answer) && isObject(answer.status) ? answer.status : undefined
  if (status === undefined) throw new Error('response without a status')
  if (status.authenticated !== true)
    return {
      problem: typeof status.error === 'string' && status.error !== '' ? status.error : 'unknown token',
    }
  const { audiences } = status
  return {
    user: userIn(status.user),
    audiences: isTexts(audiences) && audiences.length > 0 ? audiences : asked,
  }
}

function userIn(value: unknown): UserInfo {
  const { username, uid, groups = [], extra = {} } = isObject(value) ? value : {}
  if (typeof username !== 'string' || username === '') throw new Error('response without a user name')
  const values = isObject(extra) ? Object.entries(extra) : []
  if (!isTexts(groups) || values.some(([, each]) => !isTexts(each)))
    throw new Error('response with invalid groups or extra')
  return authenticated({
    name: username,
    groups,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    ...(values.length > 0 && { extra: extra as Record<string, readonly string[]> }),
  })
}
