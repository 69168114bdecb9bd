import type { PrintedUser, UserInfo } from '../request/user.ts'
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
