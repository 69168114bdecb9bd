import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import { forbidden, StatusError, unauthorized } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { Incoming } from '../request/incoming.ts'
import { anonymous, type UserInfo } from '../request/user.ts'
import type { Exchange } from './serve.ts'

/** What a request is for, as far as that says who may make it. */
export interface Aim {
  readonly cluster?: ClusterName | undefined
  /** Below the logical cluster. */
  readonly path: string
}

/** Who asks. Bad credentials never become anonymous (chapter 40, rule 9.2); why they are bad is logged, and not told. */
export const userOf = (
  authenticator: Authenticator,
  { incoming, record }: Exchange,
  { cluster, path }: Aim = incoming,
): Awaitable<UserInfo> =>
  attempt(
    () => {
      if (incoming.badCertificate) throw unauthorized('a certificate that no client authority has issued')
      const found = authenticator.authenticate(incoming.credentials, cluster)
      return after(found, user => user ?? unknown(authenticator, path))
    },
    error => {
      if (error instanceof StatusError && error.code === 401)
        record.log.warn({ reason: error.cause ?? 'bad credentials' }, 'a request could not be authenticated')
      throw error
    },
  )

function unknown(authenticator: Authenticator, path: string): UserInfo {
  if (authenticator.admitsAnonymous?.(path) === false)
    throw unauthorized('nobody is let in without credentials')
  return anonymous
}

/** Ignoring these headers would do with all rights what was meant to be done with fewer. */
export function refuseImpersonation({ impersonates }: Incoming): void {
  if (impersonates) throw forbidden(undefined, 'impersonation is not allowed for the requestor')
}
