import type { UserInfo } from '../request/user.ts'
import { authenticated } from './authentication.ts'
import { isObject, isTexts } from './jwt.ts'
import { TokenError, type TokenReader } from './token.ts'
import { createVerdicts, type TokenVerdict } from './verdicts.ts'

export interface WebhookTokensOptions {
  /** Sends a TokenReview and resolves with the answered one. Rejects when there is no good answer. */
  readonly send: (review: object) => Promise<unknown>
  readonly version: 'v1' | 'v1beta1'
  /** Milliseconds that an answer is believed, whatever it says. */
  readonly believedFor: number
}

/** Kubernetes' defaults. */
export const webhookTokensDefaults = { version: 'v1beta1', believedFor: 120_000 } as const

/** What was answered: whose the token is, or why it is nobody's. */
type Reviewed =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly problem: string }

/**
 * Asks a server outside whose a token is, by TokenReview (chapter 30, section 1.1). A server that fails has not said
 * that it knows anybody.
 */
export function webhookTokens({ send, version, believedFor }: WebhookTokensOptions): TokenReader {
  const verdicts = createVerdicts<Reviewed>(believedFor)
  const ask = async (token: string, audiences: readonly string[]): Promise<TokenVerdict<Reviewed>> => {
    const apiVersion = `authentication.k8s.io/${version}`
    const review = { kind: 'TokenReview', apiVersion, metadata: {}, spec: { token, audiences } }
    const value = reviewedIn(await send(review), audiences)
    return { value, expires: Number.POSITIVE_INFINITY }
  }
  return async (token, { audiences = [] }) => {
    const question = JSON.stringify([token, audiences])
    const reviewed = await verdicts.of(question, () => ask(token, audiences)).catch(failed)
    if ('problem' in reviewed) throw new TokenError(reviewed.problem)
    const { user, audiences: found } = reviewed
    return { user, ...(found.length > 0 && { audiences: found }) }
  }
}

function failed(error: Error): never {
  throw new TokenError(`the token webhook failed: ${error.message}`)
}

function reviewedIn(answer: unknown, asked: readonly string[]): Reviewed {
  const status = isObject(answer) && isObject(answer.status) ? answer.status : undefined
  if (status === undefined) throw new Error('it answered without a status')
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
  if (typeof username !== 'string' || username === '') throw new Error('it answered without a user')
  const values = isObject(extra) ? Object.entries(extra) : []
  if (!isTexts(groups) || values.some(([, each]) => !isTexts(each)))
    throw new Error('it answered with a user that makes no sense')
  return authenticated({
    name: username,
    groups,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    ...(values.length > 0 && { extra: extra as Record<string, readonly string[]> }),
  })
}
